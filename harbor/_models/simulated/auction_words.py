"""The plain words of any auction, as the built-in model knows them."""

from __future__ import annotations

import re

NAME = r"[A-Z][a-z][\w-]*"
"""A word that can be a name."""


def _any_of(*phrases: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)", re.IGNORECASE)


EVERYBODY = _any_of(
    r"every(?:one|body)",
    r"any(?:one|body)",
    r"(?:each|all) of you",
    r"(?:every|all|any)(?: remaining)? (?:bidders?|buyers?|players?|bids?|offers?|takers)",
    r"who (?:will|wants|would|else)",
    r"ladies and gentlemen",
)
"""Words that speak to all who are there."""
ASKING = re.compile(
    r"\?|\b(?:please|tell me|let me (?:hear|know)|send|give me|name (?:your|a)|reply|respond|answer|must|wonder(?:ing)?"
    r"|would like to hear|last chance|over to you|(?:will|would|do|are|can|could) you|r u|wanna|to act"
    r"|you(?:'re| are) (?:up|next)|your (?:turn|call|move|figure|answer))\b",
    re.IGNORECASE,
)
"""Words that want an answer."""
WAITING = _any_of(
    "hold on",
    "wait",
    "nothing (?:more )?for you",
    "do(?:n't| not) (?:bid|answer|reply)",
    "(?:i'll|i will) come to you",
)
"""Words that want none yet."""
CLOSED = _any_of("hold your bids?", "(?:is|are|has|have)(?: not|n't) (?:yet )?(?:open|opened|begun|started)")
"""Words that say that nobody can bid yet."""
SOLD = re.compile(rf"\b(?i:sold|goes|went|knocked down) to (?P<who>{NAME})")
UNSOLD = _any_of("not sold", "unsold", "no sale", "passed in", "nobody (?:bought|bid)")
OUT = re.compile(rf"\b(?P<who>{NAME}) (?:is out|has left|passe[sd]|has withdrawn|withdrew|drop(?:s|ped) out)\b")
ONE_PRICE = _any_of(
    "take it or leave",
    "in or out",
    "yes or no",
    "(?:accept|stay) or",
    "or (?:exit|decline)",
    "(?:at|for) (?:this|that) price",
    "exactly",
    "no (?:other|further) (?:figures?|amounts?|offers?)",
    "no haggling",
    "(?:final|fixed) price",
)
"""Words that leave one price to accept or to decline."""
ANY_AMOUNT = _any_of(
    r"sealed|tenders?|(?:secret|blind|written) (?:bids?|offers?|auction|round)",
    r"name (?:me )?(?:your|a|any|an)(?: \w+)? (?:price|figure|amount|number|sum|bid|offer)",
    r"(?:your|a|any|one)(?: own| best| single| final)? (?:figure|amount|number|sum)",
    r"(?:your|any)(?: own)? (?:best|highest|final) (?:bid|offer|price)",
    r"how much",
    r"what(?:ever)? (?:would|will|do|can|could|might) (?:you|everyone|everybody|each of you) (?:bid|offer|pay|give)",
    r"worth to you",
    r"of your (?:own )?(?:choice|choosing)",
    r"no (?:reserve|minimum|floor|starting price|least bid)",
    r"make (?:me )?an offer",
)
"""Words that let whoever is asked name an amount of its own."""
CUES = {
    "step": _any_of(
        r"increments?(?: is| of)?",
        r"(?:least |min(?:imum)? |smallest )?raises?(?: is| of| go(?:es)?)?(?: by)?(?: at ?least)?",
        r"steps? of(?: at ?least)?",
        r"on top of",
        r"(?:beat|raise|top|go|up)(?: \w+)? by(?: at ?least)?",
    ),
    "least": _any_of(
        r"at ?least|(?:least|lowest) bid(?: is| of)?(?: now)?",
        r"min(?:imum)?(?: next)?(?: bid)?(?: is| of)?",
        r"from",
        r"start(?:s|ing)?(?: you| price| bid)? (?:at|with|is)",
        r"open(?:s|ing)?(?: bid| price)?(?: is| of| at)?",
        r"floor|reserve(?: is| of)?",
        r"or (?:more|better|higher|above|over|up)",
        r"up|and (?:up|over)|no less than|not below|next bid",
    ),
    "high": _any_of(
        r"(?:high|highest|current|standing|leading|top|last|best)(?: \w+)?(?: on [^,.;:]+?)?(?: is| of| stands at)",
        r"(?:high|highest|current|standing|leading|top|last|best)(?: \w+)?",
        r"bid(?: on [^,.;:]+?)? (?:is|stands|was)",
        r"(?:sitting|stands?|is) at",
        r"raised(?: it)? to|leads?(?: with| at)?|improve on|beat|going (?:once|twice)",
        r"has (?:just )?(?:bid|said|offered)|bids|offered",
    ),
    "price": _any_of(r"(?:final |fixed )?price(?: is| of)?", "exactly", "right now", "clock", "now stands at"),
    "other": _any_of(r"round \d+", "not accept", "neighbou?rhood of", "hoped for", "worth(?: about)?"),
}
"""Words that say what a figure near them is; of equally near ones, the first role counts."""
ORDINARY = {
    "are", "as", "auction", "bid", "bids", "bidder", "bidding", "can", "clock", "could", "current", "did", "do",
    "does", "finally", "first", "floor", "friends", "good", "has", "have", "hello", "high", "highest", "how", "if",
    "increment", "is", "item", "least", "lot", "may", "meanwhile", "might", "min", "minimum", "next", "no", "now",
    "ok", "okay", "once", "open", "opening", "pass", "please", "price", "raise", "reserve", "right", "round",
    "shall", "should", "since", "so", "sold", "starting", "step", "thank", "thanks", "then", "today", "top", "turn",
    "update", "welcome", "well", "what", "when", "who", "will", "would", "yes",
}  # fmt: skip
"""Words that may have a capital and are no names."""
