"""What the real wandb has written of an offline run: its log, record by record.

The log is in blocks of 32 KiB. A record is one or more pieces, each with a checksum, a length and
whether it is the whole, the first, a middle or the last piece.
"""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BLOCK_BYTES = 1 << 15
FILE_HEADER_BYTES, PIECE_HEADER_BYTES = 7, 7
WHOLE, LAST = 1, 4


class OfflineRun:
    """The records of the newest offline run of a run directory."""

    def __init__(self, run_dir: Path) -> None:
        self.folder = sorted((run_dir / "wandb").glob("offline-run-*"))[-1]
        [path] = self.folder.glob("*.wandb")
        self._records = list(_records(path.read_bytes()))

    def of(self, kind: str) -> list[Any]:
        """The records of a kind: run, metric, history, artifact, exit and so on."""
        found = [record for record in self._records if record.WhichOneof("record_type") == kind]
        return [getattr(record, kind) for record in found]

    def figures(self) -> list[dict[str, Any]]:
        """The figures that were logged together, without those of wandb itself."""
        return [
            {
                "/".join(item.nested_key): json.loads(item.value_json)
                for item in history.item
                if not item.nested_key[0].startswith("_")
            }
            for history in self.of("history")
        ]

    def axes(self) -> dict[str, str]:
        """The figure that each figure is drawn over."""
        return {metric.name: metric.step_metric for metric in self.of("metric")}

    def settings(self) -> dict[str, Any]:
        """What wandb shows as the settings of the run."""
        return {
            item.key: json.loads(item.value_json)
            for run in self.of("run")
            for item in run.config.update
        }


def _records(data: bytes) -> Iterator[Any]:
    # Its classes are made when it is loaded.
    record_type = importlib.import_module("wandb.proto.wandb_internal_pb2").Record
    at, whole = FILE_HEADER_BYTES, b""
    while at + PIECE_HEADER_BYTES <= len(data):
        left = BLOCK_BYTES - at % BLOCK_BYTES
        if left < PIECE_HEADER_BYTES:
            at += left
            continue
        size, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        at += PIECE_HEADER_BYTES
        whole += data[at : at + size]
        at += size
        if kind in (WHOLE, LAST):
            yield record_type.FromString(whole)
            whole = b""
