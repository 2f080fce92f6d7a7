package reviewer

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/gitops"
)

// conflictSystem is the system prompt of a reviewer that summarises a conflict for the president.
//
//go:embed prompts/conflict.md
var conflictSystem string

const (
	// maxConflictPatch limits the diff of each side, in bytes.
	maxConflictPatch = 32 << 10
	// maxConflictPaths limits the files whose changes are shown.
	maxConflictPaths = 100
	// conflictTurns limits the replies of the run.
	conflictTurns = 5
)

// conflictMessage is the data of prompts/conflict.md.tmpl.
type conflictMessage struct {
	Task       *company.Task
	Ticket     *company.Subtask
	Own, Other string // what both sides changed in the files in conflict since they parted, quoted
}

// conflictBrief returns the start of a run that summarises the conflict of a blocked ticket (REV-2).
func conflictBrief(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, sub *company.Subtask,
) (agentrun.Brief, error) {
	conflict := sub.Unresolved
	base, err := mirror.MergeBase(ctx, conflict.Head, conflict.Onto)
	if err != nil {
		return agentrun.Brief{}, err
	}
	message := conflictMessage{Task: task, Ticket: sub}
	paths := conflict.Paths[:min(len(conflict.Paths), maxConflictPaths)]
	for head, side := range map[company.OID]*string{conflict.Head: &message.Own, conflict.Onto: &message.Other} {
		patch, truncated, err := mirror.PatchOf(ctx, base, head, paths, maxConflictPatch)
		if err != nil {
			return agentrun.Brief{}, err
		}
		if *side = agent.Quote("diff", "", string(patch)); truncated {
			*side += "The diff is longer than this."
		}
	}
	return agentrun.Brief{System: conflictSystem, Title: sub.Planned.Title,
		Text: prompts.Render("conflict.md.tmpl", message), Tools: []agent.Tool{submitSummaryTool()},
		MaxTurns: conflictTurns}, nil
}

// conflictSummary is the Final of the tool submit_summary.
type conflictSummary struct {
	Summary string `json:"summary"`
}

func submitSummaryTool() agent.Tool {
	return agent.Tool{
		Spec: adapters.Tool{Name: "submit_summary", Description: "Hand the summary in.",
			Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["summary"],"properties":{
"summary":{"type":"string","minLength":1,"maxLength":4000}}}`)},
		Run: func(_ context.Context, args json.RawMessage) (agent.Result, error) {
			var summary conflictSummary
			if err := json.Unmarshal(args, &summary); err != nil || strings.TrimSpace(summary.Summary) == "" {
				return agent.Result{Text: "the summary is missing", IsError: true}, nil
			}
			return agent.Result{Text: "handed in", Final: summary}, nil
		},
	}
}

func finishConflict(session *agentrun.Session, out agent.Outcome) (company.EndRun, error) {
	if out.End != agent.EndFinal {
		return company.EndRun{}, company.E(company.EModel,
			"the reviewer ended without a summary: "+out.DescribeEnd(session.Run)).Fix(out.NoToolsHint())
	}
	var summary conflictSummary
	if err := out.Decode(&summary); err != nil {
		return company.EndRun{}, fmt.Errorf("read the summary: %w", err)
	}
	return company.EndRun{Outcome: company.RunEnded{Status: company.RunSuccess, Summary: summary.Summary},
		Conflict: summary.Summary}, nil
}
