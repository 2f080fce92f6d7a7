package bustest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"company/internal/bus"
	"company/internal/company"
)

// A crash case starts the test binary as a child. The child works on the store
// and prints a line for each acknowledged operation, until it is killed.
const (
	childRole = "BUSTEST_CHILD"
	childDir  = "BUSTEST_DIR"
)

func runChild(driver Driver, role, dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), Patience) // never an orphan
	defer cancel()
	if role == "storm" {
		return childStorm(ctx, driver, dir, os.Getenv(stormVariable))
	}
	b, err := driver.Open(ctx, dir, 0)
	if err != nil {
		return err
	}
	fmt.Println("open")
	switch role {
	case "hold":
		_, err := io.Copy(io.Discard, os.Stdin) // until the parent closes stdin
		return errors.Join(err, b.Close())
	case "append":
		return childAppend(ctx, b)
	case "work":
		return childWork(ctx, b)
	case "mix":
		return childMix(ctx, driver, b, dir)
	case "half blob":
		return childHalfBlob(ctx, b)
	}
	return fmt.Errorf("unknown role %q", role)
}

// childAppend appends to the ledger and a journal in turn.
func childAppend(ctx context.Context, b bus.Bus) error {
	var last [2]uint64
	for i, subject := range []string{"ledger", journal} {
		message, err := b.Log().Last(ctx, subject)
		if err != nil && !errors.Is(err, bus.ErrNotFound) {
			return err
		}
		last[i] = message.Seq
	}
	for n := 0; ; n++ {
		for i, subject := range []string{"ledger", journal} {
			id := fmt.Sprintf("%s-%d-%d", subject, os.Getpid(), n)
			seq, err := b.Log().Append(ctx, subject, []byte(id+strings.Repeat(".", n%2000)), last[i], id)
			if err != nil {
				return err
			}
			last[i] = seq
			fmt.Println(subject, seq, id)
		}
	}
}

// childWork puts, leases, and acks every other item.
func childWork(ctx context.Context, b bus.Bus) error {
	for n := 0; ; n++ {
		id := fmt.Sprintf("%d-%d", os.Getpid(), n)
		if err := b.Queue().Put(ctx, bus.Item{ID: id}); err != nil {
			return err
		}
		fmt.Println("put", 0, id)
		lease, err := b.Queue().Lease(ctx)
		if err != nil {
			return err
		}
		if n%2 == 0 {
			fmt.Println("acking", 0, lease.Item().ID)
			if err := lease.Ack(ctx); err != nil {
				return err
			}
			fmt.Println("ack", 0, lease.Item().ID)
		}
	}
}

// child is a running child process and the lines it prints.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	stdin io.Closer
}

func startChild(t *testing.T, s *store, role string) *child {
	t.Helper()
	exe, err := os.Executable()
	mustSucceed(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childRole+"="+role, childDir+"="+s.dir)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	mustSucceed(t, err)
	stdout, err := cmd.StdoutPipe()
	mustSucceed(t, err)
	mustSucceed(t, cmd.Start())
	c := &child{cmd, bufio.NewScanner(stdout), stdin}
	if !c.lines.Scan() || c.lines.Text() != "open" {
		c.killProcess(t)
		t.Fatalf("child says %q", c.lines.Text())
	}
	return c
}

// killProcess ends the child with SIGKILL and returns the lines not read yet.
func (c *child) killProcess(t *testing.T) (rest []string) {
	t.Helper()
	mustSucceed(t, c.cmd.Process.Signal(syscall.SIGKILL))
	for c.lines.Scan() {
		rest = append(rest, c.lines.Text())
	}
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return rest
}

// ack is one line of a child.
type ack struct {
	what string
	seq  uint64
	id   string
}

// crashChild runs a child until it has printed n lines, kills it, and returns all complete lines.
func crashChild(t *testing.T, s *store, role string, n int) (acks []ack) {
	t.Helper()
	s.close(t)
	child := startChild(t, s, role)
	var lines []string
	for len(lines) < n && child.lines.Scan() {
		lines = append(lines, child.lines.Text())
	}
	lines = append(lines, child.killProcess(t)...)
	for _, line := range lines {
		var a ack
		if _, err := fmt.Sscan(line, &a.what, &a.seq, &a.id); err != nil {
			continue // cut in the middle: counts as not acknowledged
		}
		acks = append(acks, a)
	}
	s.open(t)
	return acks
}

// secondProcess checks that Open refuses a store which another process has open, and names that
// process. The store must be free again after that process ends or is killed (STA-16).
func secondProcess(t *testing.T, s *store) {
	for _, killed := range []bool{false, true} {
		s.close(t)
		child := startChild(t, s, "hold")
		b, err := s.driver.Open(s.ctx, s.dir, 0)
		if company.CodeOf(err) != company.EHeld || !strings.Contains(err.Error(), fmt.Sprint(child.cmd.Process.Pid)) {
			if err == nil {
				_ = b.Close()
			}
			child.killProcess(t)
			t.Fatalf("second process: %v, want %s with the holder's id", err, company.EHeld)
		}
		if killed {
			child.killProcess(t)
		} else {
			mustSucceed(t, child.stdin.Close())
			mustSucceed(t, child.cmd.Wait())
		}
		s.open(t)
	}
}

// killWhileAppending checks that no acknowledged record is lost or changed, and that at most the
// append in progress was stored in addition (REC-2).
func killWhileAppending(t *testing.T, s *store) {
	var acked []ack
	for round := range 4 {
		acked = append(acked, crashChild(t, s, "append", 20+30*round)...)
		for _, subject := range []string{"ledger", journal} {
			stored := map[uint64]string{}
			for _, message := range s.readRecords(t, subject, 0) {
				if !strings.HasPrefix(string(message.Data), message.ID) {
					t.Fatalf("record %d of %s holds other data", message.Seq, message.ID)
				}
				stored[message.Seq] = message.ID
			}
			n := 0
			for _, a := range acked {
				if a.what != subject {
					continue
				}
				if n++; stored[a.seq] != a.id {
					t.Fatalf("round %d: acknowledged %s at %d, found %q", round, a.id, a.seq, stored[a.seq])
				}
			}
			if extra := len(stored) - n; extra < 0 || extra > round+1 {
				t.Fatalf("round %d: %d records for %d acknowledgements", round, len(stored), n)
			}
		}
	}
}

// killWhileWorking checks that items that were put exist, whether they were leased or not, until they
// are acknowledged. An ack without an answer may be done or not.
func killWhileWorking(t *testing.T, s *store) {
	for round := range 4 {
		want := map[string]bool{} // false: it may be there
		for _, ack := range crashChild(t, s, "work", 15+20*round) {
			switch ack.what {
			case "put":
				want[ack.id] = true
			case "acking":
				want[ack.id] = false
			case "ack":
				delete(want, ack.id)
			}
		}
		found := s.drainQueue(t)
		for id, must := range want {
			if must && !slices.Contains(found, id) {
				t.Fatalf("round %d: %s was put and not acknowledged, and is not there", round, id)
			}
		}
		unknown := slices.DeleteFunc(found, func(id string) bool { _, ok := want[id]; return ok })
		if len(unknown) > 1 { // the put that was under way
			t.Fatalf("round %d: %v were acknowledged, and are there", round, unknown)
		}
	}
}
