package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/engine/replay"
	"company/internal/ledger"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/internal/present/view"
	"company/internal/upkeep"
)

// officeLoop is a real office without agents: its ledger, and the loop on it.
type officeLoop struct{ *orchestrator.Orchestrator }

func (l officeLoop) Source() view.Source { return view.Source{State: l.View(), Now: l.Now()} }

func (officeLoop) StartWork(context.Context) ([]company.TaskID, error) { return nil, nil }
func (officeLoop) RequestEnd() error                                   { return nil }

func (officeLoop) Follow(ctx context.Context, _ feed.Range, _ func(feed.Item) error) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func (officeLoop) StreamTranscript(context.Context, company.RunID, bool, func(agent.TranscriptEntry) error) error {
	return company.E(company.ENotFound, "an office without agents has no run")
}

func (officeLoop) StreamRecord(context.Context, company.TaskID, func(replay.Entry) error) error {
	return company.E(company.ENotFound, "an office without agents has no record")
}

func (officeLoop) Verify(context.Context) (view.Verification, error) {
	return view.Verification{}, nil
}

func (officeLoop) CheckEvidence(context.Context, string) (view.EvidenceCheck, error) {
	return view.EvidenceCheck{}, company.E(company.ENotFound, "there is no ledger")
}

func (officeLoop) FindLeftovers(context.Context, bool, bool) (upkeep.Report, error) {
	return upkeep.NewReport(true), nil
}

// startOfficeLoop runs an office in which every task asks whether it may go on
// without gates, and gives what posts a command to it.
func startOfficeLoop(t *testing.T) (officeLoop, func(id, kind, fields string) (int, string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	b, err := nats.Open(ctx, nats.Options{Dir: filepath.Join(t.TempDir(), "bus")})
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(ctx, b, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	prepare := func(_ context.Context, e company.Effect) (company.Command, error) {
		return company.RecordPreparation{Task: e.Task, TaskPrepared: company.TaskPrepared{
			Base:  company.Base{Branch: "main", OID: company.OID(strings.Repeat("1", 40)), PRBranch: "main"},
			Image: "sha256:x", Integration: "develop-" + string(e.Task) + "-k3fq",
		}}, nil
	}
	manage := func(ctx context.Context, _ company.Effect) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	o, err := orchestrator.Open(ctx, orchestrator.Config{Ledger: l, Office: "k3fq"})
	if err != nil {
		t.Fatal(err)
	}
	o.Register(company.EffectPrepare, company.ReportOutcome(o, prepare))
	o.Register(company.EffectManage, manage)
	if err := o.Start(ctx, 3); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	rctx, stop := context.WithCancel(ctx)
	go func() { ended <- o.Run(rctx) }()

	sock := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	srv := New(officeLoop{o}, ServerInfo{Version: "test", Office: "k3fq", PID: 1}, slog.New(slog.DiscardHandler), nil)
	srv.Start(listener)
	client := &http.Client{
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", sock)
		}}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		srv.Stop()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the office has ended: %v", err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return officeLoop{o}, func(id, kind, fields string) (int, string) {
		t.Helper()
		body := fmt.Sprintf(`{"id":%q,"kind":%q,"command":%s}`, id, kind, fields)
		resp, err := client.Post("http://office/api/v1/commands", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var text json.RawMessage
		if err := json.NewDecoder(resp.Body).Decode(&text); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
}

// A client that lost the answer posts the same body again, and gets the same
// answer; an id that is used for something else is a conflict (APR-8).
func TestRepeatedCommandID(t *testing.T) {
	o, post := startOfficeLoop(t)
	twice := func(id, kind, fields string) string {
		t.Helper()
		status, first := post(id, kind, fields)
		seq := o.View().Seq
		again, second := post(id, kind, fields)
		if status != 200 || again != 200 || first != second {
			t.Fatalf("%s: %d %s\nthen %d %s", kind, status, first, again, second)
		}
		if kind != "submit" && o.View().Seq != seq { // a submitted task goes on by itself
			t.Fatalf("%s was done twice", kind)
		}
		return first
	}
	conflict := func(id, kind, fields string) {
		t.Helper()
		if status, text := post(id, kind, fields); status != 409 || !strings.Contains(text, string(company.EConflict)) {
			t.Errorf("%s %s under %s: %d %s", kind, fields, id, status, text)
		}
	}
	twice("1", "staff", `{"By":2}`)
	conflict("1", "staff", `{"By":1}`)
	submit := `{"Instruction":"do it","Project":{"ID":"p","Path":"/p"},"Settings":{"no_gates":"ask"}}`
	if got := twice("2", "submit", submit); !strings.Contains(got, `"task":"t1"`) {
		t.Fatalf("no task: %s", got)
	}
	hosttest.Eventually(t, "something is asked", func() (any, bool) {
		return nil, len(o.View().OpenApprovals("t1")) > 0
	})
	twice("3", "answer", `{"Approval":"a1","Option":"approve"}`)
	conflict("3", "answer", `{"Approval":"a1","Option":"reject"}`)
	conflict("4", "answer", `{"Approval":"a1","Option":"approve"}`)
	conflict("4", "answer", `{"Approval":"a1","Option":"reject"}`)
	twice("5", "raise_budget", `{"Task":"t1","By":{"tokens":1000}}`)
	twice("6", "pause", `{"Task":"t1","Off":false}`)
	twice("7", "cancel", `{"Task":"t1","Why":"no"}`)
	if s := o.View(); s.Office.AddedWorkers != 2 || len(s.Tasks) != 1 {
		t.Errorf("%d hired, %d tasks", s.Office.AddedWorkers, len(s.Tasks))
	}
}

// Every command that people send has a name in the ledger, under which a repeat
// is known.
func TestCommandsAreKnownWhenRepeated(t *testing.T) {
	for _, codec := range commandCodecs {
		c, err := codec.decode(json.RawMessage(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := company.WishOf(c); err != nil {
			t.Errorf("%s: %v", codec.kind, err)
		}
	}
}
