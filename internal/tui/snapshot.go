package tui

import (
	"time"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/feed"
	"company/internal/view"
)

// linkState is how the screens are fed.
type linkState int

const (
	linkConnecting linkState = iota // nothing was read yet
	linkLive                        // a company is at work, and its feed is followed
	linkIdle                        // no company is at work: the office is looked at now and then
	linkLost                        // the office does not answer
)

// link is the connection to the office.
type link struct {
	state linkState
	since time.Time // of a lost one
	why   string    // it is lost, escaped
}

// snapshot is all that the screens show, read at one moment. Nothing in it is changed
// after it was sent.
type snapshot struct {
	now      time.Time // of the office
	link     link
	overview view.Overview
	agents   view.Agents
	feed     []feed.Item // that people read, the newest last

	task    *view.TaskDetail // that is looked at
	taskWhy string           // there is none, escaped
	log     runLog
	diff    patchText
}

// runLog is the conversation of a run, as far as it was read.
type runLog struct {
	run     company.RunID
	entries []string           // rendered, escaped
	outputs []agent.LiveOutput // of calls under way, the oldest first
	dropped int                // entries before them
	ended   bool
	why     string // it cannot be read, escaped
}

// patchText is the change of a task, a subtask or a run.
type patchText struct {
	of    string
	key   string // the commits that it lies between
	text  string // unified diff, as git writes it
	notes []string
	why   string // there is none, escaped
}

// focus names the parts to be read beside the overview.
type focus struct {
	all  bool           // tasks that ended long ago, too
	task company.TaskID // empty: none
	run  company.RunID  // whose conversation is shown
	diff string         // id whose change is shown
}

// snapshotMsg brings what the feeder read.
type snapshotMsg snapshot
