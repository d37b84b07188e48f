// A bidder in Node over stdio: agent = { command = ["node", "bidder.mjs"] }
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const turn = JSON.parse(line);
  const me = turn.seen.find((event) => event.type === "signal");
  const least = turn.space.minimum;
  const answer = least > 0.9 * me.values[turn.item] ? { action: "withdraw" } : { action: "bid", amount: least };
  console.log(JSON.stringify({ turn: turn.turn, ...answer }));
}
