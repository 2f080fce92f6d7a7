package bustest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"company/internal/bus"
)

// Storm repeatedly kills a process whose clients work on a store at the same time. The kills come
// while the store is opened, during operations and between them. Each seed uses its own store and
// kills the process up to six times. The seed determines the clients' operations and the moment of
// death, as far as the scheduler allows.
//
// Afterwards each answer that the process received must be true. An operation without an answer was
// either done completely or not at all. The store holds no other data, and the next kill does not
// revert state that a start has shown.
func Storm(t *testing.T, driver Driver, crashes int, seed uint64) {
	kinds := map[string]int{}
	for done := 0; done < crashes; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("replay it in the folder of this package: go test -run TestKillStorm -args -crashes 1 -seed %d", seed)
				}
			}()
			done += runStorm(t, driver, seed, kinds)
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%v", kinds)
	if kinds["answered"] == 0 {
		t.Error("no operation was answered")
	}
	for _, k := range []string{"died at a start", "kept", "lost"} {
		if kinds[k] == 0 && crashes >= 200 {
			t.Errorf("no run had: %s", k)
		}
	}
}

// runStorm runs the storm of one seed. It returns the number of kills.
func runStorm(t *testing.T, driver Driver, seed uint64, kinds map[string]int) (crashes int) {
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	rng := rand.New(rand.NewPCG(seed, 0))
	s := &stormStore{
		store: store{driver: driver, dir: t.TempDir(), ctx: ctx}, kinds: kinds,
		records: map[string][]stormRecord{}, items: map[string]bool{}, blobs: map[string]bool{},
	}
	crashes = 1 + rng.IntN(6)
	for round := range crashes {
		o := stormOrders{seed: seed, round: round, clients: 1 + rng.IntN(6), after: rng.IntN(150),
			delay: time.Duration(rng.IntN(1000)) * time.Microsecond}
		if rng.IntN(5) == 0 { // kill during the opening or soon after it
			o.after, o.delay = 0, time.Duration(rng.IntN(120))*time.Millisecond
		}
		lines := killStormChild(t, s.dir, o)
		s.open(t)
		s.requireAnswers(t, fmt.Sprintf("seed %d, crash %d", seed, round+1), lines)
		s.close(t)
	}
	return crashes
}

// killStormChild runs a child until it has killed itself, and returns the lines that it printed.
func killStormChild(t *testing.T, dir string, o stormOrders) (lines []stormLine) {
	t.Helper()
	exe, err := os.Executable()
	mustSucceed(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childRole+"=storm", childDir+"="+dir, stormVariable+"="+o.String())
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	mustSucceed(t, err)
	mustSucceed(t, cmd.Start())
	for text := bufio.NewScanner(stdout); text.Scan(); {
		if l, err := parseStormLine(text.Text()); err == nil { // a truncated line is not an answer
			lines = append(lines, l)
		}
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return lines
}

// stormRecord is a record as its writer knows it.
type stormRecord struct {
	seq uint64
	id  string
}

// stormStore is a store with its expected content.
type stormStore struct {
	store
	records map[string][]stormRecord // by subject
	items   map[string]bool          // those that were put; false: and settled
	blobs   map[string]bool
	kinds   map[string]int
}

// requireAnswers checks the store against the lines that a child printed. If the result of an
// operation without an answer is found, it is expected from then on.
func (s *stormStore) requireAnswers(t *testing.T, when string, lines []stormLine) {
	t.Helper()
	under := map[int]stormLine{} // the unanswered operation of each client
	for _, l := range lines {
		if !l.done {
			under[l.client] = l
			continue
		}
		delete(under, l.client)
		s.applyAnswer(l)
	}
	if len(lines) == 0 {
		s.kinds["died at a start"]++
	}
	s.requireRecords(t, when, under)
	s.requireItems(t, when, under)
	s.requireBlobs(t, when, under)
}

// applyAnswer adds an answer to the expected content.
func (s *stormStore) applyAnswer(l stormLine) {
	s.kinds["answered"]++
	switch l.op {
	case "append":
		s.records[l.on] = append(s.records[l.on], stormRecord{l.seq, l.id})
	case "purge":
		delete(s.records, l.on)
	case "blob":
		s.blobs[l.id] = true
	case "put": // another client may have settled it before this answer was printed
		if _, settled := s.items[l.on]; !settled {
			s.items[l.on] = true
		}
	case "ack":
		s.items[l.on] = false
	}
}

// requireRecords checks that each subject has the acknowledged records, and at most the effect of its
// writer's unanswered operation in addition.
func (s *stormStore) requireRecords(t *testing.T, when string, under map[int]stormLine) {
	t.Helper()
	next := map[string]stormLine{}
	for _, l := range under {
		if l.op == "append" || l.op == "purge" {
			next[l.on] = l
		}
	}
	subjects, err := s.Log().Subjects(s.ctx)
	mustSucceed(t, err)
	for _, subject := range slices.Concat(subjects, []string{bus.Ledger}, slices.Collect(maps.Keys(s.records))) {
		var found []stormRecord
		for _, message := range s.readRecords(t, subject, 0) {
			if string(message.Data) != stormData(message.ID) {
				t.Fatalf("%s: record %d of %s holds other data than %s", when, message.Seq, subject, message.ID)
			}
			found = append(found, stormRecord{message.Seq, message.ID})
		}
		want, l := s.records[subject], next[subject]
		switch n := len(found); {
		case slices.Equal(found, want):
			if l.op != "" && !(l.op == "purge" && len(want) == 0) {
				s.kinds["lost"]++
			}
		case l.op == "append" && n > 0 && slices.Equal(found[:n-1], want) && found[n-1].id == l.id,
			l.op == "purge" && n == 0:
			s.kinds["kept"]++
		default:
			t.Fatalf("%s: %s has %v, answered were %v, and %q was under way", when, subject, found, want, l)
		}
		delete(next, subject) // a subject may occur twice in the list
		if s.records[subject] = found; len(found) == 0 {
			delete(s.records, subject)
		}
	}
}

// requireItems checks that the items wait that were put and not settled, and no others. It settles them.
func (s *stormStore) requireItems(t *testing.T, when string, under map[int]stormLine) {
	t.Helper()
	unsure := map[string]bool{} // items that an unanswered operation puts or settles
	for _, l := range under {
		if l.op == "put" || l.op == "ack" {
			unsure[l.on] = true
		}
	}
	found := s.drainQueue(t)
	for _, id := range found {
		if !s.items[id] && !unsure[id] {
			t.Fatalf("%s: %s was settled, and is there", when, id)
		}
	}
	for id, waits := range s.items {
		if waits && !unsure[id] && !slices.Contains(found, id) {
			t.Fatalf("%s: %s was put, and is not there", when, id)
		}
	}
	clear(s.items)
}

// requireBlobs checks that each blob that was put exists and is complete. A blob with an unanswered
// put may exist or not.
func (s *stormStore) requireBlobs(t *testing.T, when string, under map[int]stormLine) {
	t.Helper()
	for _, l := range under {
		if l.op != "blob" {
			continue
		}
		r, err := s.Blobs().Get(s.ctx, hashOf([]byte(stormData(l.id))))
		if errors.Is(err, bus.ErrNotFound) {
			s.kinds["lost"]++
			continue
		}
		mustSucceed(t, err)
		mustSucceed(t, r.Close())
		s.kinds["kept"]++
		s.blobs[l.id] = true
	}
	for id := range s.blobs {
		if got := s.mustBlob(t, hashOf([]byte(stormData(id)))); string(got) != stormData(id) {
			t.Fatalf("%s: the blob of %s has %d bytes", when, id, len(got))
		}
	}
}
