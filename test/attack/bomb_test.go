package attack

import (
	"strings"
	"testing"

	"company/internal/company"
)

// bomb starts processes for ever, whether or not there is room for more. Each
// leaves its group and hides where it comes from.
const bomb = "env -i perl -MPOSIX -e 'while (1) { fork(); POSIX::setsid() }' & sleep 60"

// TestForkBomb: a command that fills its container with processes that no
// signal to its group reaches is over when its time is over. The work goes on
// in the same container, or, where not even that could answer any more, in a
// new run that is told.
func TestForkBomb(t *testing.T) {
	const first, second company.RunID = "t1-01.1", "t1-01.2"
	staff := &crew{}
	h := newHouse(t, staff, map[string]string{"README.md": "# Bombs\n", "check.sh": "test -s done.txt || test ! -e " +
		"done.txt\n"})
	h.Config("workers: {max: 1, memory: 1536m, pids: 256}\ngates: {lint: none, test: sh ./check.sh}\n")
	work := []step{
		do("write_file", args{"path": "done.txt", "content": "done\n"}),
		do("git_commit", args{"message": "Get it done"}),
		do("finish", args{"summary": "done"}),
	}
	after := runScript("[ $(ls -d /proc/[0-9]* | wc -l) -lt 20 ] && echo room again")
	staff.assignTickets(ticket{title: "Drop a bomb", writeSet: "done.txt", runs: [][]step{
		append([]step{do("run_command", args{"command": bomb, "timeout_s": 5}), after}, work...),
		work,
	}})
	r := h.Run(patience, "submit", "get it done")
	if r.Code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.Code, r.Stdout, stripSteering(r.Stderr))
	}
	said, next := staff.toolAnswers(first, 0), staff.toolAnswers(first, 1)
	if lost := staff.brief(second); lost != "" {
		if !strings.Contains(lost, "container ended while you worked in it") {
			t.Errorf("the second run is told:\n%s", lost)
		}
		return
	}
	if !strings.Contains(said, "timed out after") || !strings.Contains(said, "everything in the container was ended") {
		t.Errorf("the bomb's answer:\n%s", said)
	}
	if !strings.Contains(next, "room again") {
		t.Errorf("the command after it:\n%s", next)
	}
}

// TestMemoryOfACommand: a command that takes more memory than its container has is killed
// alone, and its answer says why. The work goes on in the same container.
func TestMemoryOfACommand(t *testing.T) {
	staff := &crew{}
	h := newHouse(t, staff, map[string]string{"README.md": "# Bombs\n", "check.sh": "test -s done.txt || test ! -e " +
		"done.txt\n"})
	h.Config("workers: {max: 1, memory: 1536m}\ngates: {lint: none, test: sh ./check.sh}\n")
	staff.assignTickets(ticket{title: "Take much", writeSet: "done.txt", runs: [][]step{{
		runScript("head -c 1700m /dev/zero | tail -c 1700m >/dev/null"),
		do("write_file", args{"path": "done.txt", "content": "done\n"}),
		do("git_commit", args{"message": "Get it done"}),
		do("finish", args{"summary": "done"}),
	}}})
	r := h.Run(patience, "submit", "get it done")
	if r.Code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.Code, r.Stdout, stripSteering(r.Stderr))
	}
	if said := staff.toolAnswers("t1-01.1", 0); !strings.Contains(said, "exit code 137") ||
		!strings.Contains(said, "the memory of the container, which has 1536 MiB, ran out") {
		t.Errorf("the command's answer:\n%s", said)
	}
}
