// A bidder in Node over MCP: node mcp_bidder.mjs http://127.0.0.1:8000/mcp seat-...
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, seat] = process.argv.slice(2);
const client = new Client({ name: "node-bidder", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const call = async (name, given) => (await client.callTool({ name, arguments: { seat, ...given } })).structuredContent;
for (let turn; (turn = await call("wait_for_turn", { everything: true })).status !== "over"; ) {
  if (turn.status !== "your_turn") continue;
  const least = turn.space.minimum;
  const me = turn.seen.find((event) => event.type === "signal");
  const answer = least > 0.9 * me.values[turn.item] ? { action: "withdraw" } : { action: "bid", amount: least };
  await call("answer", { turn: turn.turn, answer });
}
await client.close();
