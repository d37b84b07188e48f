"""Which account a model is used from, and which model it is."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from langchain_core.language_models import BaseChatModel

from harbor._config.models import ModelSettings
from harbor._models.calls.trouble import host_of, host_of_client


@dataclass(frozen=True, slots=True)
class Identity:
    """Which account a model is used from, which model it is, and at which server; none contains a key.

    `host` is that of the server, for whoever waits for it.
    """

    account: str
    model: str
    server: str = ""
    host: str = ""


def identity_of(chat: BaseChatModel, settings: ModelSettings) -> Identity:
    """Say which account a chat model is used from, and which model it is."""
    kept: dict[str, Any] = vars(chat)
    keys = [str(value.get_secret_value()) for value in kept.values() if hasattr(value, "get_secret_value")]
    keys.append(str(kept.get("client_kwargs")))  # where Ollama's package has the header with its key
    places = [kept.get(name) for name in ("openai_api_base", "anthropic_api_url", "base_url", "endpoint")]
    address = settings.base_url or next((place for place in places if isinstance(place, str)), "")
    provider = settings.use.partition(":")[0]
    account = " ".join((provider, type(chat).__name__, address, _digest(*keys)))
    model = _digest(account, settings.model_dump_json(), repr(chat._identifying_params))
    host = host_of(address) if address else host_of_client(chat) or provider
    return Identity(account, model, address or provider, host)


def _digest(*texts: str) -> str:
    return sha256("\0".join(texts).encode(errors="replace")).hexdigest()[:12]
