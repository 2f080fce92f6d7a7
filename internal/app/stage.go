package app

import (
	"bytes"
	"context"
	"maps"
	"math"
	"time"

	"company/internal/company"
	"company/internal/config"
	"company/internal/gates"
	"company/internal/ledger"
	"company/internal/orchestrator"
	"company/internal/replay"
	"company/internal/session"
)

// stage makes an office replay a record.
// Nil: the office does its own work.
type stage struct {
	record   *replay.Record
	director *replay.Director
	files    replay.FileReader
	first    company.Event // that the ledger begins with
}

// seedLedger begins the ledger with the submission of the task.
func (s *stage) seedLedger(ctx context.Context, l *ledger.Ledger) error {
	if s == nil {
		return nil
	}
	for _, content := range s.record.Attached {
		if _, _, err := l.PutBlob(ctx, bytes.NewReader(content)); err != nil {
			return err
		}
	}
	_, err := l.Append(ctx, ledger.Command{ID: s.first.Cause}, s.first.Time, []company.Event{s.first})
	return err
}

// orderCommands gives the order of commands. Nil: they are decided as they come.
func (s *stage) orderCommands() orchestrator.Pacer {
	if s == nil {
		return nil
	}
	return s.director
}

// settingsPath is the checkout whose config and trust count; empty: the task's own.
func (s *stage) settingsPath() string {
	if s == nil {
		return ""
	}
	return s.record.Project().Path
}

// gatesAtOnce is how many gates may run at once: one that waits for its turn in the record must
// not keep another from running.
func (s *stage) gatesAtOnce(ordinary int) int {
	if s == nil {
		return ordinary
	}
	return max(ordinary, s.record.Subtasks()+1)
}

// earlyAfter is after how long workers begin without the image or the verdict on the base; 0: as
// always. In a replay they begin early where the record has it.
func (s *stage) earlyAfter() time.Duration {
	if s == nil {
		return 0
	}
	return math.MaxInt64
}

// containersAtOnce is how many containers of workers and of agents that look at a tree may run
// at once; 0: memory does not bound them. In a replay one may wait for its turn in the record.
func (s *stage) containersAtOnce(ordinary int) int {
	if s == nil {
		return ordinary
	}
	return 0
}

// recordedAgents have runs converse with their records.
func (s *stage) recordedAgents(office *officeAgents) session.Agents {
	if s == nil {
		return office
	}
	return replay.Agents{Director: s.director}
}

// recordedFiles has files that are made anew be those that the record has.
func (s *stage) recordedFiles(office gates.FileMaker) gates.FileMaker {
	if s == nil {
		return office
	}
	return replay.MadeFiles{Record: s.record, Files: s.files}
}

// recordedGates tells which checks ran a part of their tests. Nil: the times of the base tell.
func (s *stage) recordedGates() gates.Record {
	if s == nil {
		return nil
	}
	return s.record
}

// directEffects brings the effects that depend on the moment of their begin to the recorded one.
func (s *stage) directEffects(d company.Decider, judge *gates.Handler, h effectHandlers) effectHandlers {
	if s == nil {
		return h
	}
	h.finders[company.EffectGate] = s.director.DirectGates(d, func(view company.Decider) company.OutcomeFinder {
		at := *judge
		at.Decider = view
		return at.RunGates
	})
	h.finders[company.EffectTestMerge] = s.director.DirectTests(d, h.finders[company.EffectTestMerge])
	return h
}

// ledgerID is the id of the office in its ledger. That of a replay is the recorded one,
// since branches bear it; containers bear the office's own.
func (a *App) ledgerID() string {
	if a.stage == nil {
		return a.office.ID
	}
	return a.stage.record.Office
}

// replayConfig is a config for the replay of a record: no caps, no forge, and room for as
// much at once as there was.
func replayConfig(l config.Loaded, r *replay.Record) config.Loaded {
	l.Origin = maps.Clone(l.Origin)
	l.Origin["workers.max"] = "the replay"
	c := &l.Config
	c.Bus = config.Bus{Driver: "file"}
	c.Forge = config.Forge{Kind: "local"}
	c.Budget.DayUSD, c.Budget.DayTokens, c.Budget.OfficeUSD, c.Budget.OfficeTokens = -1, -1, -1, -1
	c.Workers.Max = max(1, r.Workers())
	c.Limits.ConcurrentTasks, c.Limits.Readers, c.Limits.Writers = 1, max(c.Limits.Readers, r.Subtasks()+1), 0
	return l
}
