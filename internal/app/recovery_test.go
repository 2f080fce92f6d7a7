package app

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/ledger"
	"company/internal/office/config"
)

// With recovery: ask, tasks that an earlier process left waits for company
// resume; what waits for an answer, or has ended, is left alone. Twice is as
// good as once.
func TestRecoveryAsk(t *testing.T) {
	bus, err := nats.Open(t.Context(), nats.Options{Dir: filepath.Join(t.TempDir(), "bus")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	}()
	h := &App{}
	h.loaded.Config = config.Default()
	if h.ledger, err = ledger.Open(t.Context(), bus, ledger.Options{}); err != nil {
		t.Fatal(err)
	}
	if h.orch, err = orchestrator.Open(t.Context(), orchestrator.Config{Ledger: h.ledger, Office: "k3fq"}); err != nil {
		t.Fatal(err)
	}
	do := func(c company.Command) {
		t.Helper()
		if _, err := h.orch.Do(t.Context(), company.Company, c); err != nil {
			t.Fatal(err)
		}
	}
	do(company.StartOffice{Office: "k3fq"})
	for range 4 {
		do(company.Submit{Instruction: "x", Project: company.Project{ID: "p", Path: "/p"},
			Settings: company.Settings{NoGates: "ask"}})
	}
	do(company.Cancel{Task: "t2"})
	base := company.OID(strings.Repeat("a", 40))
	do(company.RecordPreparation{Task: "t3",
		TaskPrepared: company.TaskPrepared{Base: company.Base{OID: base}, Image: "i", GateHash: "g",
			Integration: "develop-t3-k3fq"}})
	for _, e := range company.Due(h.View(), h.Now(), 9) {
		if e.Kind == company.EffectCommand && e.Task == "t3" {
			do(e.Command)
		}
	}
	if len(h.View().OpenApprovals("t3")) != 1 {
		t.Fatalf("t3 asks %v", h.View().OpenApprovals("t3"))
	}
	do(company.StartOffice{Office: "k3fq"})

	var told []company.TaskID
	paused := func() string {
		out := ""
		for _, id := range h.View().Open {
			if h.View().Tasks[id].Paused {
				out += string(id) + " "
			}
		}
		return out
	}
	hold := func() {
		t.Helper()
		if told, err = h.pauseUnfinished(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if hold(); paused() != "" || len(told) > 0 {
		t.Fatalf("recovery: auto pauses %s: %v", paused(), told)
	}
	h.loaded.Config.Recovery = "ask"
	for range 2 {
		if hold(); paused() != "t1 t4 " || !slices.Equal(told, []company.TaskID{"t1", "t4"}) {
			t.Fatalf("%s paused: %v", paused(), told)
		}
	}
	for _, e := range company.Due(h.View(), h.Now(), 9) {
		if e.Task != "t3" {
			t.Errorf("%s goes on by itself", e.Key)
		}
	}
	do(company.Pause{Task: "t1", Off: true}) // as company resume t1 does
	if paused() != "t4 " {
		t.Errorf("%s paused", paused())
	}
}
