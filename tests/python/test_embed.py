"""A program without Python embeds a system, with nothing but what is installed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embed_support import EXAMPLE, compiled, copied, resolved, run


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return copied(tmp_path_factory.mktemp("installed"))


def test_the_example_in_c_runs_as_its_comment_says(
    tmp_path: Path, cxloom: Callable[..., Any], installed: tuple[Path, Path]
) -> None:
    program = compiled(EXAMPLE / "chase.c", tmp_path / "chase", installed)
    spec = resolved(cxloom, EXAMPLE / "system.yaml", tmp_path / "system.json")
    done = run(program, spec)
    assert done.returncode == 0, done.stderr
    # One after the other: 10 process + 16 B and 24 B at 32 GB/s + twice 2 x 25 port and 5 wire + 40 controller
    # + 45 media.
    each = 10 + 0.5 + 0.75 + 2 * (2 * 25 + 5) + 40 + 45
    assert done.stdout == f"64 reads in {64 * each:.1f} ns\n"
    slower = resolved(
        cxloom, EXAMPLE / "system.yaml", tmp_path / "slower.json", "--set", "links[0].delay=15ns"
    )
    assert run(program, slower).stdout == f"64 reads in {64 * (each + 20):.1f} ns\n"
    # Nobody knows beforehand when the program gives an access: it drives one part.
    threads = resolved(cxloom, EXAMPLE / "system.yaml", tmp_path / "threads.json", "--set", "run.threads=2")
    assert run(program, threads).stdout == done.stdout


def test_no_error_of_the_c_interface_needs_memory(
    tmp_path: Path, cxloom: Callable[..., Any], installed: tuple[Path, Path]
) -> None:
    """What fails for want of memory says so, instead of throwing when it stores the text of the error."""
    program = compiled(
        Path(__file__).parent / "programs" / "short_of_memory.cpp", tmp_path / "short", installed
    )
    done = run(program, resolved(cxloom, EXAMPLE / "system.yaml", tmp_path / "system.json"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example_in_c_is_short() -> None:
    lines = (EXAMPLE / "chase.c").read_text().splitlines()
    assert len([line for line in lines if line.strip()]) <= 50


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1: no JSON: a key is missing"),
        ("devices: {}", "allowed: a resolved spec, as `cxloom resolve SPEC` prints it"),
        ('{"devices": {"host": {"kind": "hots"}}}', "devices.host.kind: unknown device kind 'hots'"),
        ('{"devices": {"host": {"kind": "host", "queue": 0}}}', "devices.host.queue: "),
        ("{}", "devices: "),
    ],
)
def test_a_program_in_c_is_told_what_is_wrong(
    tmp_path: Path, installed: tuple[Path, Path], text: str, said: str
) -> None:
    program = compiled(EXAMPLE / "chase.c", tmp_path / "chase", installed)
    (tmp_path / "bad.json").write_text(text)
    done = run(program, tmp_path / "bad.json")
    assert done.returncode == 2
    assert said in done.stderr


MISUSE = r"""
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <string.h>

static int64_t answered;
static void note(void* user, int64_t picoseconds) { *(int64_t*)user = picoseconds; }

#define EXPECT(what) if (!(what)) { printf("not so: %s (%s)\n", #what, cxloom_error(s)); return 1; }

int main(int argc, char** argv) {
  static char json[1 << 16];
  char* error = 0;
  FILE* file = fopen(argv[argc - 1], "r");
  (void)!fread(json, 1, sizeof json - 1, file);
  fclose(file);
  if (cxloom_open(0, 0, &error) || !strstr(error, "NULL")) return 1;
  cxloom_free(error);
  const char* no_plugins[] = {"/nowhere/libnone.so", 0};
  cxloom_simulation* s = cxloom_open(json, no_plugins, &error);
  if (s || !strstr(error, "/nowhere/libnone.so")) { puts(error); return 1; }
  cxloom_free(error);
  s = cxloom_open(json, 0, &error);
  if (!s) { puts(error); return 1; }
  EXPECT(strcmp(cxloom_error(s), "") == 0);
  EXPECT(cxloom_drive(s, "hots") == -1 && strstr(cxloom_error(s), "'hots'"));
  EXPECT(cxloom_inject(s, "host", 0, 64, 0, note, &answered) == -1 && strstr(cxloom_error(s), "drive"));
  EXPECT(cxloom_drive(s, "memory") == -1 && strstr(cxloom_error(s), "makes no requests"));
  EXPECT(cxloom_drive(s, "host") == 0);
  EXPECT(cxloom_inject(s, "host", 0, 0, 0, note, &answered) == -1);
  EXPECT(cxloom_inject(s, "host", 0, 5000, 0, note, &answered) == -1 && strstr(cxloom_error(s), "4096"));
  EXPECT(cxloom_next_event(s) == INT64_MAX);
  EXPECT(cxloom_inject(s, "host", 1ull << 40, 64, 0, note, &answered) == -1 && strstr(cxloom_error(s), "no region"));
  EXPECT(cxloom_inject(s, "host", (1ull << 30) - 32, 64, 0, note, &answered) == -1);
  EXPECT(cxloom_inject(s, "host", UINT64_MAX, 64, 0, note, &answered) == -1);
  EXPECT(cxloom_drive(s, NULL) == -1);
  EXPECT(cxloom_inject(s, "host", 64, 64, 1, note, &answered) == 0);
  EXPECT(cxloom_next_event(s) < INT64_MAX);
  EXPECT(cxloom_run_until(s, 1000) == 0 && answered == 0 && cxloom_now(s) <= 1000);
  EXPECT(cxloom_run_until(s, 1000000) == 0 && answered > 100000);
  EXPECT(cxloom_finish(s) == 0);
  EXPECT(cxloom_run_until(s, 2000000) == 1);
  char* summary = cxloom_summary(s);
  puts(summary);
  cxloom_free(summary);
  cxloom_close(s);
  return 0;
}
"""


def test_the_functions_of_the_c_interface_refuse_misuse(
    tmp_path: Path, cxloom: Callable[..., Any], installed: tuple[Path, Path]
) -> None:
    (tmp_path / "misuse.c").write_text(MISUSE)
    program = compiled(tmp_path / "misuse.c", tmp_path / "misuse", installed)
    spec = resolved(cxloom, EXAMPLE / "system.yaml", tmp_path / "system.json")
    done = run(program, spec)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads(done.stdout)
    assert summary["requests"] == 1
    assert summary["writes"] == 1
    assert summary["per_memory"]["memory"]["writes"] == 1


OVER = r"""
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <string.h>

static cxloom_simulation* s;
static int answers, problems;

#define EXPECT(what) if (!(what)) { printf("not so: %s (%s)\n", #what, cxloom_error(s)); ++problems; }
#define SAYS(text) (strstr(cxloom_error(s), text) != 0)

/* Of all functions what an answer may do, and what it may not. */
static void answer(void* user, int64_t picoseconds) {
  char bytes[4] = "abc";
  ++answers;
  EXPECT(cxloom_finish(s) == -1 && SAYS("an answer cannot finish"));
  EXPECT(cxloom_run_until(s, INT64_MAX) == -1 && SAYS("the simulation is at work"));
  cxloom_close(s);
  EXPECT(SAYS("an answer cannot close"));
  EXPECT(cxloom_now(s) == picoseconds);
  EXPECT(cxloom_write(s, 64, bytes, sizeof bytes) == 0);
  cxloom_read(s, 64, bytes, sizeof bytes);
  EXPECT(strcmp(bytes, "abc") == 0);
  cxloom_next_event(s);
  if (user) EXPECT(cxloom_inject(s, "host", 4096, 64, 0, answer, 0) == 0);
}

int main(int argc, char** argv) {
  static char json[1 << 16];
  char* error = 0;
  char bytes[4] = "xyz";
  FILE* file = fopen(argv[argc - 1], "r");
  (void)!fread(json, 1, sizeof json - 1, file);
  fclose(file);
  s = cxloom_open(json, 0, &error);
  if (!s) { puts(error); return 1; }
  EXPECT(cxloom_drive(s, "host") == 0);
  for (int i = 0; i < 3; ++i) EXPECT(cxloom_inject(s, "host", 64 * i, 64, 0, answer, s) == 0);
  EXPECT(cxloom_run_until(s, 1000000) == 0 && answers == 6);
  EXPECT(cxloom_inject(s, "host", 0, 64, 0, answer, s) == 0);
  EXPECT(cxloom_finish(s) == 0 && answers == 8);

  EXPECT(cxloom_inject(s, "host", 0, 64, 0, answer, s) == -1 && SAYS("the simulation is over"));
  EXPECT(cxloom_drive(s, "host") == -1 && SAYS("the simulation is over"));
  EXPECT(cxloom_finish(s) == -1 && SAYS("the simulation is over"));
  EXPECT(cxloom_run_until(s, INT64_MAX) == 1);
  EXPECT(cxloom_next_event(s) == INT64_MAX);
  EXPECT(cxloom_now(s) > 1000000);
  EXPECT(cxloom_write(s, 0, bytes, sizeof bytes) == 0);
  cxloom_read(s, 64, bytes, sizeof bytes);
  EXPECT(strcmp(bytes, "abc") == 0);
  EXPECT(answers == 8);
  char* summary = cxloom_summary(s);
  puts(summary ? summary : cxloom_error(s));
  cxloom_free(summary);
  cxloom_close(s);
  cxloom_close(0);
  printf("%s", cxloom_version()[0] ? "" : "no version");
  return problems > 0;
}
"""


@pytest.mark.parametrize("suffix", ["c", "cpp"])
def test_what_is_over_or_at_work_refuses_what_it_cannot_do(
    tmp_path: Path, cxloom: Callable[..., Any], installed: tuple[Path, Path], suffix: str
) -> None:
    (tmp_path / f"over.{suffix}").write_text(OVER)
    program = compiled(tmp_path / f"over.{suffix}", tmp_path / "over", installed)
    done = run(program, resolved(cxloom, EXAMPLE / "system.yaml", tmp_path / "system.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["requests"] == 8  # each request was answered


EMBEDDED = r"""
#include <cxloom/embedding.hpp>
#include <fstream>
#include <iostream>
#include <sstream>

int main(int, char** argv) {
  std::ostringstream json;
  json << std::ifstream(argv[1]).rdbuf();
  cxloom::EmbeddedSystem system(json.str());
  system.run_until(cxloom::Time::max());
  std::cout << cxloom::to_json(system.summary()) << std::endl;
}
"""


def test_a_workload_runs_in_cpp_as_it_does_from_python(
    tmp_path: Path, cxloom: Callable[..., Any], installed: tuple[Path, Path]
) -> None:
    (tmp_path / "embedded.cpp").write_text(EMBEDDED)
    program = compiled(tmp_path / "embedded.cpp", tmp_path / "embedded", installed)
    spec = Path(__file__).parents[2] / "examples" / "system.yaml"
    here = json.loads(cxloom("run", spec, "--json").out)
    there = json.loads(run(program, resolved(cxloom, spec, tmp_path / "system.json")).stdout)
    assert there["requests"] > 1000
    for key in (
        "latency_ns",
        "breakdown_ns",
        "per_link",
        "per_memory",
        "per_requester",
        "bandwidth_gb_per_s",
    ):
        assert there[key] == here[key], key


def test_what_no_program_can_embed_is_refused(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    (tmp_path / "t.trace").write_text("# cxloom-trace 1: address kind\n0x0 R\n")
    spec = tmp_path / "spec.yaml"
    spec.write_text((EXAMPLE / "system.yaml").read_text() + "workload: {host: {trace: t.trace}}\n")
    outcome = cxloom("resolve", spec)
    assert outcome.code == 2
    assert f"{spec}:7:" in outcome.err
    assert "replays no traces" in outcome.err
    spec.write_text((EXAMPLE / "system.yaml").read_text().replace("10ns", "10"))
    assert cxloom("resolve", spec).code == 2
