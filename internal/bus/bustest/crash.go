package bustest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"company/internal/bus"
	"company/internal/company"
)

// A crash case starts the test binary again as a child, which works on the
// store and prints a line for each acknowledged operation, until it is killed.
const (
	childRole = "BUSTEST_CHILD"
	childDir  = "BUSTEST_DIR"
)

func runChild(d Driver, role, dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), Patience) // never an orphan
	defer cancel()
	if role == "storm" {
		return childStorm(ctx, d, dir, os.Getenv(stormVariable))
	}
	b, err := d.Open(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Println("open")
	switch role {
	case "hold":
		_, err := io.Copy(io.Discard, os.Stdin) // until the parent lets go
		return errors.Join(err, b.Close())
	case "append":
		return childAppend(ctx, b)
	case "work":
		return childWork(ctx, b)
	case "mix":
		return childMix(ctx, d, b, dir)
	case "half blob":
		return childHalfBlob(ctx, b)
	}
	return fmt.Errorf("unknown role %q", role)
}

// childAppend appends to the ledger and a journal in turn.
func childAppend(ctx context.Context, b bus.Bus) error {
	var last [2]uint64
	for i, subject := range []string{"ledger", journal} {
		m, err := b.Log().Last(ctx, subject)
		if err != nil && !errors.Is(err, bus.ErrNotFound) {
			return err
		}
		last[i] = m.Seq
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
		l, err := b.Queue().Lease(ctx, long)
		if err != nil {
			return err
		}
		fmt.Println("lease", l.Fence(), l.Item().ID)
		if n%2 == 0 {
			if err := l.Ack(ctx); err != nil {
				return err
			}
			fmt.Println("ack", l.Fence(), l.Item().ID)
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

// crashChild runs a child until it has printed n lines, kills it, and returns all.
func crashChild(t *testing.T, s *store, role string, n int) (acks []ack) {
	t.Helper()
	s.close(t)
	c := startChild(t, s, role)
	var lines []string
	for len(lines) < n && c.lines.Scan() {
		lines = append(lines, c.lines.Text())
	}
	lines = append(lines, c.killProcess(t)...)
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

// secondProcess: a store that another process has open is refused by name,
// and free again when that process is gone, killed or not (STA-16).
func secondProcess(t *testing.T, s *store) {
	for _, killed := range []bool{false, true} {
		s.close(t)
		c := startChild(t, s, "hold")
		b, err := s.driver.Open(s.ctx, s.dir)
		if company.CodeOf(err) != company.EHeld || !strings.Contains(err.Error(), fmt.Sprint(c.cmd.Process.Pid)) {
			if err == nil {
				_ = b.Close()
			}
			c.killProcess(t)
			t.Fatalf("second process: %v, want %s with the holder's id", err, company.EHeld)
		}
		if killed {
			c.killProcess(t)
		} else {
			mustSucceed(t, c.stdin.Close())
			mustSucceed(t, c.cmd.Wait())
		}
		s.open(t)
	}
}

// killWhileAppending: no acknowledged record is lost or changed, and at most
// the one on its way was stored besides (REC-2).
func killWhileAppending(t *testing.T, s *store) {
	var acked []ack
	for round := range 4 {
		acked = append(acked, crashChild(t, s, "append", 20+30*round)...)
		for _, subject := range []string{"ledger", journal} {
			stored := map[uint64]string{}
			for _, m := range s.readRecords(t, subject, 0) {
				if !strings.HasPrefix(string(m.Data), m.ID) {
					t.Fatalf("record %d of %s holds other data", m.Seq, m.ID)
				}
				stored[m.Seq] = m.ID
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

// killWhileWorking: fences grow over crashes, acknowledged items stay away, and
// items that were put are there.
func killWhileWorking(t *testing.T, s *store) {
	var highest uint64
	put, acked := map[string]bool{}, map[string]bool{}
	for round := range 4 {
		for _, a := range crashChild(t, s, "work", 15+20*round) {
			switch a.what {
			case "put":
				put[a.id] = true
			case "ack":
				acked[a.id] = true
			case "lease":
				if a.seq <= highest {
					t.Fatalf("round %d: fence %d after %d", round, a.seq, highest)
				}
				highest = a.seq
			}
		}
		id := fmt.Sprint("after ", round)
		s.mustPut(t, id)
		for { // the child may have died between put and lease
			l, err := s.Queue().Lease(s.ctx, long)
			mustSucceed(t, err)
			if l.Fence() <= highest {
				t.Fatalf("round %d: fence %d after %d", round, l.Fence(), highest)
			}
			highest = l.Fence()
			if acked[l.Item().ID] {
				t.Fatalf("%s was acknowledged and came back", l.Item().ID)
			}
			put[l.Item().ID], acked[l.Item().ID] = true, true
			mustSucceed(t, l.Ack(s.ctx))
			if l.Item().ID == id {
				break
			}
		}
	}
	// An ack may have been stored without being seen, by each child once.
	waiting, leased, err := s.Queue().Depth(s.ctx)
	mustSucceed(t, err)
	if left := len(put) - len(acked); waiting != 0 || leased > left || leased < left-4 {
		t.Fatalf("%d wait and %d are leased of %d put and %d acked", waiting, leased, len(put), len(acked))
	}
}
