package app

import (
	"bytes"
	"context"
	"maps"

	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/engine/replay"
	"company/internal/gates"
	"company/internal/ledger"
	"company/internal/office/config"
)

// stage makes an office replay a record. With a nil stage the office does its own work.
type stage struct {
	record   *replay.Record
	director *replay.Director
	files    replay.FileReader
	first    company.Event // first event of the ledger
}

// seedLedger starts the ledger with the submission of the task.
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

// orderCommands returns the order of commands. A nil result means that they are decided as they
// arrive.
func (s *stage) orderCommands() orchestrator.Pacer {
	if s == nil {
		return nil
	}
	return s.director
}

// settingsPath returns the checkout whose config and trust apply. It returns "" for the task's
// own.
func (s *stage) settingsPath() string {
	if s == nil {
		return ""
	}
	return s.record.Project().Path
}

// gatesAtOnce returns how many gates may run in parallel. A gate that waits for its turn in the
// record must not block others.
func (s *stage) gatesAtOnce(ordinary int) int {
	if s == nil {
		return ordinary
	}
	return max(ordinary, s.record.Subtasks()+1)
}

// containersAtOnce returns the limit of containers for workers and inspecting agents. Zero means
// no limit by memory. A replay has no limit, since a container may wait for its turn in the
// record.
func (s *stage) containersAtOnce(ordinary int) int {
	if s == nil {
		return ordinary
	}
	return 0
}

// recordedAgents returns agents that use the recorded conversations in a replay.
func (s *stage) recordedAgents(office *officeAgents) agentrun.Agents {
	if s == nil {
		return office
	}
	return replay.Agents{Director: s.director}
}

// recordedFiles returns a file maker that uses the recorded files in a replay.
func (s *stage) recordedFiles(office gates.FileMaker) gates.FileMaker {
	if s == nil {
		return office
	}
	return replay.MadeFiles{Record: s.record, Files: s.files}
}

// recordedGates returns the record of checks that ran part of their tests. A nil result means that
// the times on the base decide.
func (s *stage) recordedGates() gates.Record {
	if s == nil {
		return nil
	}
	return s.record
}

// directEffects starts the effects that depend on their start time at the recorded moment.
func (s *stage) directEffects(decider company.Decider, judge *gates.Handler, handlers effectHandlers) effectHandlers {
	if s == nil {
		return handlers
	}
	handlers.finders[company.EffectGate] = s.director.DirectGates(
		decider, func(view company.Decider) company.OutcomeFinder {
			handler := *judge
			handler.Decider = view
			return handler.RunGates
		})
	handlers.finders[company.EffectTestMerge] = s.director.DirectTests(decider, handlers.finders[company.EffectTestMerge])
	return handlers
}

// ledgerID returns the id of the office in its ledger. A replay uses the recorded id, because it
// is part of branch names. Containers have the office's own id.
func (a *App) ledgerID() string {
	if a.stage == nil {
		return a.office.ID
	}
	return a.stage.record.Office
}

// replayConfig returns the config for the replay of a record: no budget limits, no forge, and the
// recorded parallelism.
func replayConfig(loaded config.Loaded, record *replay.Record) config.Loaded {
	loaded.Origin = maps.Clone(loaded.Origin)
	loaded.Origin["workers.max"] = "the replay"
	cfg := &loaded.Config
	cfg.Bus = config.Bus{Driver: "file"}
	cfg.Forge = config.Forge{Kind: "local"}
	cfg.Budget.DayUSD = -1
	cfg.Budget.DayTokens = -1
	cfg.Budget.OfficeUSD = -1
	cfg.Budget.OfficeTokens = -1
	cfg.Workers.Max = max(1, record.Workers())
	cfg.Limits.ConcurrentTasks = 1
	cfg.Limits.Readers = max(cfg.Limits.Readers, record.Subtasks()+1)
	cfg.Limits.Writers = 0
	return loaded
}
