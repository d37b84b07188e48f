"""Harbor's own thought nodes."""

from __future__ import annotations

from harbor.graphs._context.node import ThoughtNode
from harbor.graphs._nodes.believe import BELIEVE
from harbor.graphs._nodes.bid import BID, FUSED
from harbor.graphs._nodes.learn import LEARN
from harbor.graphs._nodes.limit import LIMIT
from harbor.graphs._nodes.mirror import MIRROR
from harbor.graphs._nodes.plan import PLAN
from harbor.graphs._nodes.predict import PREDICT
from harbor.graphs._nodes.profile import PROFILE
from harbor.graphs._nodes.recall import RECALL
from harbor.graphs._nodes.remember import REMEMBER
from harbor.graphs._nodes.replan import REPLAN
from harbor.graphs._nodes.strategize import STRATEGIZE
from harbor.graphs._sessions import believe, bid, plan

NODES: tuple[ThoughtNode, ...] = (
    RECALL,
    PLAN,
    PROFILE,
    MIRROR,
    PREDICT,
    STRATEGIZE,
    BID,
    FUSED,
    LIMIT,
    BELIEVE,
    REPLAN,
    LEARN,
    REMEMBER,
    plan.PLAN,
    believe.BELIEVE,
    plan.REPLAN,
    bid.BID,
)
