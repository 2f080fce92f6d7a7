package sandbox_test

import (
	"log/slog"
	"testing"

	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
	"company/internal/toolbox/toolproto"
)

// TestRunTakesAWarmContainer: a run that finds a container ready has its workspace made in it.
func TestRunTakesAWarmContainer(t *testing.T) {
	p := gitopstest.New(t, map[string]string{"a.txt": "one\n", "sub/b.txt": "b\n"})
	cells := newCells(t)
	factory := &sandbox.Factory{Config: sandbox.Config{Runtime: cells, Git: p.Store, Office: "abcd", Containers: 1,
		Author: gitops.Person{Name: "a", Email: "a@b"}, Logger: slog.New(slog.DiscardHandler)}}
	t.Cleanup(factory.Close)
	factory.ServeOn(cells.port)
	factory.Warm(1, map[string]int{"any": 1})
	b, err := factory.Open(t.Context(), sandbox.Spec{Mirror: p.Mirror, Run: "t1-01.1", Role: company.Worker, Epoch: 1,
		Fence: 1, Image: "any", Base: p.Base, Start: p.Base, Branch: "agent/t1-01-x"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close(t.Context())
	got, err := b.Tools.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "sub/b.txt"})
	if err != nil || string(got.Content) != "b\n" {
		t.Errorf("sub/b.txt is %q (%v)", got.Content, err)
	}
	if status, err := b.Tools.GitStatus(t.Context()); err != nil || status.Head != string(p.Base) || !status.Clean {
		t.Errorf("the workspace is %+v (%v)", status, err)
	}
	if all := cells.started(); len(all) != 1 || all[0].Labels.Role != "pool" {
		t.Errorf("started were %+v", all)
	}
}
