package ledger_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/safedir"
)

const childDir = "LEDGER_CHILD_DIR"

// runChild is a company that decides, journals and snapshots until it is
// killed, and says what was acknowledged.
func runChild(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience) // never an orphan
	defer cancel()
	b, err := nats.Open(ctx, nats.Options{Dir: filepath.Join(dir, "bus")})
	if err != nil {
		return err
	}
	own, err := safedir.Open(dir)
	if err != nil {
		return err
	}
	l, err := ledger.Open(ctx, b, ledger.Options{Folder: own})
	if err != nil {
		return err
	}
	j, err := l.OpenJournal(ctx, run, l.Head().Seq+1) // higher than any before
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		// One to three commands share a record.
		batch := l.Begin()
		var id string
		var ends []company.Event
		for k := range 1 + n%3 {
			id = fmt.Sprintf("%d/%d/%d", os.Getpid(), n, k)
			events, err := batch.Add(ledger.Command{ID: id}, noon,
				[]company.Event{draft("x", id), draft("y", strings.Repeat("z", n*37%3000))})
			if err != nil {
				return err
			}
			ends = append(ends, events[1])
		}
		if _, err := l.AppendBatch(ctx, batch); err != nil {
			return err
		}
		for _, e := range ends {
			fmt.Println("event", e.Seq, e.Hash(), id)
		}
		record, err := j.Append(ctx, "turn", id)
		if err != nil {
			return err
		}
		fmt.Println("record", record, id, id)
		if n%10 == 9 {
			if err := l.SaveSnapshot(ctx, l.Head(), writesText(string(l.Head().Hash))); err != nil {
				return err
			}
		}
	}
}

// TestKill9 kills the writer in the middle, again and again: what it was told
// is stored is there, the chain holds, and a command that it was not told
// about can simply be sent again (REC-2).
func TestKill9(t *testing.T) {
	b := setup(t)
	events, records := map[uint64]string{}, map[int]string{}
	for round := range 5 {
		must(t, b.Close())
		for _, line := range crash(t, b.dir, 20+15*round) {
			var what, hash, id string
			var n uint64
			if _, err := fmt.Sscan(line, &what, &n, &hash, &id); err != nil {
				continue // cut by the kill
			}
			if what == "event" {
				events[n] = hash
			} else {
				records[int(n)] = id
			}
		}
		b.openBus(t)
		l := b.open(t)
		must(t, l.Verify(b.ctx))
		all := readAll(t, b, l, 0)
		requireChain(t, all)
		for seq, hash := range events {
			if seq > uint64(len(all)) || string(all[seq-1].Hash()) != hash {
				t.Fatalf("round %d: acknowledged event %d is gone or another", round, seq)
			}
		}
		if seq, state, ok, err := l.LoadSnapshot(b.ctx); err != nil || ok && string(state) != string(all[seq-1].Hash()) {
			t.Fatalf("round %d: snapshot at %d: %v", round, seq, err)
		}
		journal := journalOf(t, b, l, run)
		for n, id := range records {
			if n > len(journal) || string(journal[n-1].Data) != fmt.Sprintf("%q", id) {
				t.Fatalf("round %d: acknowledged record %d is gone or another", round, n)
			}
		}

		// The command that was under way when it died.
		last := all[len(all)-2]
		var id string
		if _, err := fmt.Sscanf(string(last.Data), "%q", &id); err != nil {
			t.Fatal(err)
		}
		if again := mustAppend(t, b, l, id, draft("never stored", 0)); again[0].Seq != last.Seq {
			t.Fatalf("round %d: sent again, command %s made event %d, not %d", round, id, again[0].Seq, last.Seq)
		}
	}
	if len(events) < 50 || len(records) < 50 {
		t.Fatalf("the children acknowledged only %d events and %d records", len(events), len(records))
	}
}

// crash runs a child until it has printed n lines, and kills it.
func crash(t *testing.T, dir string, n int) (lines []string) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	out := bufio.NewScanner(stdout)
	for len(lines) < n && out.Scan() {
		lines = append(lines, out.Text())
	}
	must(t, cmd.Process.Signal(syscall.SIGKILL))
	for out.Scan() {
		lines = append(lines, out.Text())
	}
	if err := cmd.Wait(); cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return lines
}
