package upkeep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/bus"
	"company/internal/bus/file"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/engine/orchestrator"
	"company/internal/ledger"
	"company/internal/lib/clock"
	"company/internal/office"
	"company/internal/office/officetest"
)

// store is an office with its ledger on a real bus.
type store struct {
	*decidertest.Decider
	t      *testing.T
	driver string
	office *office.Office
	bus    bus.Bus
	ledger *ledger.Ledger
	orch   *orchestrator.Orchestrator
	clock  *clock.Clock // nil: this machine's

}

func newStore(t *testing.T, driver string) *store {
	t.Helper()
	s := &store{t: t, driver: driver, office: officetest.Open(t)}
	must(t, s.open())
	t.Cleanup(s.close)
	s.Must(company.StartOffice{Office: decidertest.Office, Version: "test"})
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens the bus, the ledger and the state, as a start does.
func (s *store) open() (err error) {
	ctx := context.Background()
	switch s.driver {
	case "nats":
		s.bus, err = nats.Open(ctx, nats.Options{Folder: s.office.BusFolder})
	case "file":
		s.bus, err = file.Open(ctx, file.Options{Folder: s.office.BusFolder})
	}
	if err != nil {
		s.bus = nil
		return err
	}
	if s.ledger, err = ledger.Open(ctx, s.bus, ledger.Options{Folder: s.office.StateFolder}); err != nil {
		return err
	}
	s.orch, err = orchestrator.Open(ctx, orchestrator.Config{Ledger: s.ledger, Office: decidertest.Office, Clock: s.clock})
	if err == nil {
		s.Decider = decidertest.Over(s.t, s.orch)
	}
	return err
}

func (s *store) close() {
	if s.bus != nil {
		must(s.t, s.bus.Close())
		s.bus = nil
	}
}

// saveSnapshot stores the state as it is now.
func (s *store) saveSnapshot() {
	s.t.Helper()
	must(s.t, s.ledger.SaveSnapshot(s.t.Context(), s.ledger.Head(), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(map[string]any{"fold": company.Fold(), "state": s.orch.View()})
	}))
}

// endRun has a run of the manager of a new task end, with a journal of one record that
// names a blob and a result that names the transcript, and the task with it.
func (s *store) endRun(words string) (run company.RunID, journal company.Hash) {
	s.t.Helper()
	id := s.Submit("do "+words, "/p")
	s.Prepare(id, company.OID(strings.Repeat("a", 40)), company.GateCommand{Name: "test", Command: "true"})
	run = company.NewRunID(id, "", company.Manager, 1)
	fence := s.Claim(run, company.OID(strings.Repeat("a", 40)))
	j, err := s.ledger.OpenJournal(s.t.Context(), run, fence)
	must(s.t, err)
	_, err = j.Append(s.t.Context(), "tool",
		map[string]any{"result": map[string]any{"blob": s.putBlob("payload of " + words)}, "words": words})
	must(s.t, err)
	journal, _, err = s.ledger.SealJournal(s.t.Context(), run)
	must(s.t, err)
	result := s.putBlob(fmt.Sprintf(`{"run_id":%q,"transcript":%q}`, run, s.putBlob("transcript of "+words)))
	s.Must(company.EndRun{Run: run, Fence: fence,
		Outcome: company.RunEnded{Status: company.RunError, Error: "x", Journal: journal, Result: result}})
	must(s.t, s.ledger.PurgeJournal(s.t.Context(), run))
	s.Must(company.Cancel{Task: id})
	return run, journal
}

func (s *store) putBlob(text string) company.Hash {
	s.t.Helper()
	h, _, err := s.ledger.PutBlob(s.t.Context(), strings.NewReader(text))
	must(s.t, err)
	return h
}

// flipByte changes a byte of the first file below the bus in which a text stands: so far
// in front of the text.
func (s *store) flipByte(text string, before int) {
	s.t.Helper()
	found := false
	must(s.t, filepath.WalkDir(s.office.Bus, func(path string, e fs.DirEntry, err error) error {
		if err != nil || found || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		at := bytes.Index(raw, []byte(text)) - before
		if at < 0 {
			return nil
		}
		found = true
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteAt([]byte{raw[at] ^ 1}, int64(at))
		return err
	}))
	if !found {
		s.t.Fatalf("no file of the bus holds %q", text)
	}
}

func (s *store) verifier() *Verifier {
	return &Verifier{Ledger: s.ledger, State: s.orch, Office: s.office}
}

// hashOfText is the name of the blob of a text.
func hashOfText(text string) company.Hash {
	sum := sha256.Sum256([]byte(text))
	return company.Hash(hex.EncodeToString(sum[:]))
}
