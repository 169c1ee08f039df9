"""Schedulers of gangs on GPUs of one type, second by second: every second it is decided anew who runs.

Jobs are (name, arrival, gang, duration) in whole seconds, in order of arrival. Nothing is shared with the project.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Job = tuple[str, int, int, int]
Choose = Callable[[list[str], int], list[str]]


class Gpus:
    """The jobs, how long each has run and waited, and who ran in the last second."""

    def __init__(self, jobs: Sequence[Job], count: int) -> None:
        self.arrival = {name: arrival for name, arrival, _, _ in jobs}
        self.gang = {name: gang for name, _, gang, _ in jobs}
        self.left = {name: duration for name, _, _, duration in jobs}
        self.count = count
        self.running: list[str] = []

    def completions(self, choose: Choose) -> dict[str, int]:
        """When each job is done if `choose`, of who is there and the second, says who runs."""
        done: dict[str, int] = {}
        second = 0
        while len(done) < len(self.left):
            here = [name for name, arrival in self.arrival.items() if arrival <= second and name not in done]
            self.running = choose(here, second)
            assert sum(self.gang[name] for name in self.running) <= self.count
            second += 1
            for name in self.running:
                self.left[name] -= 1
                if not self.left[name]:
                    done[name] = second
        return done

    def fitting(self, ordered: Sequence[str], blocking: bool = False, taken: Sequence[str] = ()) -> list[str]:
        """Those that fit in order; if one that does not blocks, none after it."""
        free, chosen = self.count - sum(self.gang[name] for name in taken), list(taken)
        for name in ordered:
            if self.gang[name] <= free:
                chosen.append(name)
                free -= self.gang[name]
            elif blocking:
                break
        return chosen


def fifo(jobs: Sequence[Job], count: int) -> dict[str, int]:
    """Not preemptive, in order of arrival."""
    gpus = Gpus(jobs, count)

    def choose(here: list[str], second: int) -> list[str]:
        going = [name for name in here if name in gpus.running]
        return gpus.fitting([name for name in here if name not in going], blocking=True, taken=going)

    return gpus.completions(choose)


def easy(jobs: Sequence[Job], count: int) -> dict[str, int]:
    """FIFO with the first job's reservation: others may start if it could start as early, were all others to wait."""
    gpus = Gpus(jobs, count)

    def start(first: str, chosen: Sequence[str]) -> int:
        """In how many seconds the first job fits if nobody else starts."""
        wait = 0
        while sum(gpus.gang[name] for name in chosen if gpus.left[name] > wait) + gpus.gang[first] > count:
            wait += 1
        return wait

    def choose(here: list[str], second: int) -> list[str]:
        going = [name for name in here if name in gpus.running]
        waiting = [name for name in here if name not in going]
        chosen = gpus.fitting(waiting, blocking=True, taken=going)
        waiting = [name for name in waiting if name not in chosen]
        if waiting:
            shadow = start(waiting[0], chosen)
            for name in waiting[1:]:
                more = [*chosen, name]
                if sum(gpus.gang[each] for each in more) <= count and start(waiting[0], more) <= shadow:
                    chosen = more
        return chosen

    return gpus.completions(choose)


def srtf(jobs: Sequence[Job], count: int) -> dict[str, int]:
    """Preemptive, least remaining time first."""
    gpus = Gpus(jobs, count)
    return gpus.completions(lambda here, second: gpus.fitting(sorted(here, key=gpus.left.__getitem__)))


def tiresias(jobs: Sequence[Job], count: int, threshold: int) -> dict[str, int]:
    """Two queues by GPU-seconds, without promotions."""
    gpus = Gpus(jobs, count)
    queues: tuple[list[str], list[str]] = ([], [])
    ran = {name: 0 for name, *_ in jobs}

    def choose(here: list[str], second: int) -> list[str]:
        for queue in queues:
            queue[:] = [name for name in queue if name in here]
        queues[0].extend(name for name in here if name not in queues[0] + queues[1])
        for name in here:
            if name in gpus.running:
                ran[name] += 1
                if name in queues[0] and ran[name] * gpus.gang[name] >= threshold:
                    queues[0].remove(name)
                    queues[1].append(name)
        chosen = gpus.fitting(queues[0] + queues[1])
        for queue in queues:
            queue.sort(key=lambda name: name not in chosen)
        return chosen

    return gpus.completions(choose)
