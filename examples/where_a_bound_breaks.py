"""Where does D_0 <= OPT/2 (Hadar, (9)) break as printed? Watch it fail as the horizon grows past 2 OPT / min U.

One device, one job of one slot that is worth 1 whenever it ends: the optimum is 1 for every horizon T, while the
initial dual value D_0 grows with T, because the printed eta lacks a factor of T.
"""

from rich.console import Console
from rich.table import Table

from dlsched.bounds import check
from dlsched.models.hadar import Instance


def one_job(slots: int) -> Instance:
    """Return the instance with this horizon."""
    return Instance.parse(
        {
            "slots": slots,
            "device_types": ["gpu"],
            "machines": [{"name": "m", "devices": {"gpu": 1}}],
            "jobs": [
                {
                    "name": "j",
                    "arrival": 1,
                    "gang": 1,
                    "iterations": 1,
                    "rate": {"gpu": 1},
                    "utility": {"kind": "step", "value": 1, "deadline": slots},
                }
            ],
        }
    )


def main() -> None:
    """Print the verdicts, printed and corrected, by horizon."""
    table = Table("T", "printed: D_0", "OPT/2", "verdict", "corrected: D_0", "verdict", title="hadar/initial-dual")
    for slots in range(1, 9):
        printed, corrected = (
            check("hadar/initial-dual", one_job(slots), variant=variant) for variant in ("printed", "corrected")
        )
        table.add_row(
            str(slots),
            f"{printed.measured:g}",
            f"{printed.bound:g}",
            printed.status.value,
            f"{corrected.measured:g}",
            corrected.status.value,
        )
    Console().print(table)


if __name__ == "__main__":
    main()
