package tui

import (
	"time"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/present/feed"
	"company/internal/present/view"
)

// linkState is the state of the connection to the office.
type linkState int

const (
	linkConnecting linkState = iota // no data yet
	linkLive                        // a company is at work
	linkIdle                        // no company is at work
	linkLost                        // the office does not respond
)

// link is the connection to the office.
type link struct {
	state linkState
	since time.Time // when the connection was lost
	why   string    // reason of the loss, escaped
}

// snapshot holds all data shown on the screens, read at one moment. It is immutable once it is
// sent.
type snapshot struct {
	now      time.Time // the office's time
	link     link
	overview view.Overview
	agents   view.Agents
	feed     []feed.Item // items for people, newest last

	task    *view.TaskDetail // task in focus
	taskWhy string           // reason for a nil task, escaped
	log     runLog
	diff    patchText
}

// runLog is the part of a run's conversation that was read so far.
type runLog struct {
	run     company.RunID
	entries []string           // rendered, escaped
	outputs []agent.LiveOutput // of running calls, oldest first
	dropped int                // number of dropped older entries
	ended   bool
	why     string // reason why it cannot be read, escaped
}

// patchText is the diff of a task, a subtask or a run.
type patchText struct {
	of    string
	key   string // its commits
	text  string // unified diff from git
	notes []string
	why   string // reason why there is no diff, escaped
}

// focus selects the parts to read besides the overview.
type focus struct {
	all  bool           // include tasks that ended long ago
	task company.TaskID // may be empty
	run  company.RunID  // run with the shown conversation
	diff string         // id with the shown diff
}

// snapshotMsg carries a snapshot from the feeder.
type snapshotMsg snapshot
