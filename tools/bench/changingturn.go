package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/gitops"
)

// thinkingTime is how long a quick model takes for a reply.
const thinkingTime = 250 * time.Millisecond

// oneProject is the mirror of every task.
type oneProject struct{ mirror *gitops.Mirror }

func (p oneProject) MirrorOf(context.Context, *company.Task) (*gitops.Mirror, error) {
	return p.mirror, nil
}

// benchChangingTurn measures turns that change the work tree, in a real sandbox: each
// is followed by a checkpoint, which the next change waits for. plain are turns
// without a change or a container.
func benchChangingTurn(ctx context.Context, w *benchEnv, plain []time.Duration) (lines []Line, err error) {
	p, err := w.openProject(ctx)
	if err != nil {
		return nil, err
	}
	shop, err := sandbox.NewFactory(sandbox.Config{
		Runtime: w.rt, Git: p.store, Office: w.office, Author: gitops.Person{Name: "bench", Email: "bench@localhost"},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	defer shop.Close()
	office, done, err := w.openSessions(ctx, "changes", shop, oneProject{p.mirror})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	head := p.commits[len(p.commits)-1]
	talk := func(task int, script modelScript) ([]time.Duration, error) {
		id := company.NewTaskID(task)
		gaps, err := office.runConversation(ctx, id, script, &measuredTalk{spec: &sandbox.Spec{
			Base: head, Start: head, Branch: gitops.BranchName(string(company.NewSubtaskID(id, 1)), "bench"), Image: w.image,
		}})
		return gaps[min(len(gaps), 2):], err // the first turns warm caches of git up
	}
	writeFile := func(n int) (string, string) {
		return "write_file", fmt.Sprintf(`{"path":"changed.txt","content":"change %d\n"}`, n)
	}
	turns := w.sampleCount(30, 4)
	thought, err := talk(1, modelScript{turns: turns, thinks: thinkingTime, call: writeFile})
	if err != nil {
		return nil, err
	}
	hurried, err := talk(2, modelScript{turns: turns, call: writeFile})
	if err != nil {
		return nil, err
	}
	_, err = talk(3, modelScript{turns: 2 * turns, call: func(n int) (string, string) {
		if n%2 == 1 {
			return writeFile(n)
		}
		return "git_commit", fmt.Sprintf(`{"message":"change %d"}`, n)
	}})
	if err != nil {
		return nil, err
	}
	rested := compareLine(fmt.Sprintf("a changing turn, the model thinks %v", thinkingTime), "a turn without a tool",
		thought, plain)
	rested.Note = "what the company adds to a turn with a write_file, whose state is kept while the model thinks"
	atOnce := compareLine("a changing turn, the model answers at once", "a turn without a tool", hurried, plain)
	commits := office.calls["git_commit"]
	commit := Line{What: "git_commit", Unit: "ms", Ours: medianMillis(commits), Samples: len(commits)}
	return []Line{
		rested.withTarget("≤ 10 ms", rested.Ours <= 10), atOnce.withTarget("≤ 60 ms", atOnce.Ours <= 60),
		commit.withTarget("≤ 60 ms", commit.Ours <= 60),
	}, nil
}
