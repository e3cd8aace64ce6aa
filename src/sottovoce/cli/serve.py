"""sottovoce serve: run the collector."""

from __future__ import annotations

from typing import Annotated

import typer

from sottovoce.cli.which_store import SecretOption, StoreOption, located


def serve(
    store: StoreOption = None,
    host: Annotated[str, typer.Option(help="The address; only a proxy should reach it.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 lets the system choose.", min=0, max=65535)] = 8000,
    secret_file: SecretOption = None,
    rate: Annotated[int, typer.Option(help="Requests per second and address; 0: no limit.", min=0)] = 50,
    burst: Annotated[int, typer.Option(help="Requests that may come at once.", min=1)] = 200,
    max_body: Annotated[int, typer.Option(help="Bytes, before and after decompression.")] = 1 << 20,
    max_batch: Annotated[int, typer.Option(help="Reports in one request.")] = 100_000,
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="A site whose pages may post reports; repeatable.")
    ] = None,
    trusted_proxy: Annotated[
        str, typer.Option(help="Addresses of proxies whose X-Forwarded-For is believed.")
    ] = "127.0.0.1",
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Run the collector until it is told to stop (SIGTERM or Ctrl-C finishes what is under way)."""
    from sottovoce.collector import Settings, logs
    from sottovoce.collector.process import run, server

    logs.configure(log_level)
    settings = Settings(
        max_body=max_body,
        max_batch=max_batch,
        rate=rate,
        burst=burst,
        allow_origins=tuple(allow_origin or ()),
    )
    where = located(store, create=True)
    process = server(where, host, port, settings, secret_file=secret_file, proxies=trusted_proxy)
    run(process, settings.max_connections)
