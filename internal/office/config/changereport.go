package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"company/internal/lib/safetext"
)

// ChangeReport describes a change for programs. RenderText renders it for people.
type ChangeReport struct {
	SchemaVersion int           `json:"schema_version"`
	File          string        `json:"file"`
	Key           string        `json:"key"`
	Was           string        `json:"was"`
	Now           string        `json:"now"`
	Values        []ValueChange `json:"values"`
	Counts        string        `json:"counts"`
	Holder        int           `json:"holder,omitempty"`
	NeedsTrust    []string      `json:"needs_trust"`

	after Loaded
	same  bool // the value did not change
}

// ValueChange is a changed value of the whole config, as written in company.yaml.
type ValueChange struct {
	Key    string `json:"key"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Origin string `json:"origin,omitempty"`
}

// Times when a change takes effect, in ChangeReport.Counts.
const (
	CountsFromNextCommand = "next_command"
	CountsFromNextTask    = "next_task"
	CountsFromNextStart   = "next_start"
)

// Report returns the outcome of a change. holder is the pid of the process at work in the office, or 0. isOfTasks
// reports whether that process applies a key to its next task.
func (c Changed) Report(of Change, holder int, isOfTasks func(key string) bool) ChangeReport {
	out := ChangeReport{SchemaVersion: 1, File: of.File, Key: of.Key, Was: c.maskText(of.Key, c.Was),
		Now: c.maskText(of.Key, c.Now), same: c.Was == c.Now, Values: c.listValues(of.Key), Counts: CountsFromNextCommand,
		Holder: holder, NeedsTrust: []string{}, after: c.After}
	for _, r := range c.Requests {
		out.NeedsTrust = append(out.NeedsTrust, r.Key)
	}
	if holder == 0 {
		return out
	}
	out.Counts = CountsFromNextTask
	if slices.ContainsFunc(out.Values, func(v ValueChange) bool { return !isOfTasks(v.Key) }) {
		out.Counts = CountsFromNextStart
	}
	return out
}

// maskText returns the value of a key or a section with the key in a webhook's URL masked.
func (c Changed) maskText(key, text string) string {
	text = maskValue(key, text)
	for _, loaded := range []*Loaded{c.Before, &c.After} {
		if loaded == nil || loaded.Config.Notify.WebhookURL == "" {
			continue
		}
		address := strconv.Quote(loaded.Config.Notify.WebhookURL)
		masked := maskValue(webhookKey, address)
		text = strings.ReplaceAll(text, strings.Trim(address, `"`), strings.Trim(masked, `"`))
	}
	return text
}

// listValues returns the values of the whole config that the change of a key affected.
func (c Changed) listValues(key string) []ValueChange {
	after, before := c.After.Config.Values(), map[string]string{}
	if c.Before != nil {
		before = c.Before.Config.Values()
	}
	list := []ValueChange{}
	for _, name := range sortedKeys(before, after) {
		if before[name] != after[name] && (c.Before != nil || name == key || strings.HasPrefix(name, key+".")) {
			list = append(
				list, ValueChange{name, maskValue(name, before[name]), maskValue(name, after[name]), c.After.Origin[name]})
		}
	}
	return list
}

// RenderText renders the change for people: the old and new value, the effective value if it differs, and when the
// change takes effect. Values are escaped, but keys,
// file names and origins are not.
func (c ChangeReport) RenderText() string {
	orUnset := func(value string) string {
		if value == "" {
			return "not set"
		}
		return safetext.EscapeLine(value, 300)
	}
	text := fmt.Sprintf("%s: %s → %s, in %s\n", c.Key, orUnset(c.Was), orUnset(c.Now), c.File)
	value, origin := c.after.Config.ShownValues()[c.Key], c.after.Origin[c.Key]
	switch {
	case c.same:
		return text + "that is what it was: nothing is written\n"
	case origin == OriginDefault:
		text += "its default counts: " + orUnset(value) + "\n"
	case origin != "" && !strings.HasPrefix(origin, c.File+":"):
		text += fmt.Sprintf("%s sets it, too, and that is what counts: %s\n", origin, orUnset(value))
	}
	if len(c.NeedsTrust) > 0 {
		return text + fmt.Sprintf("the file asks for what needs your trust (%s): it counts after company trust\n",
			strings.Join(c.NeedsTrust, ", "))
	}
	switch c.Counts {
	case CountsFromNextCommand:
		text += "it counts from the next command on\n"
	case CountsFromNextTask:
		text += fmt.Sprintf("the company that is at work here (process %d) takes it for tasks that begin from now on\n",
			c.Holder)
	case CountsFromNextStart:
		text += fmt.Sprintf("the company that is at work here (process %d) goes on with what it read at its start; it "+
			"counts from its next start on\n", c.Holder)
	}
	return text
}

// sortedKeys returns the keys of two configs, sorted.
func sortedKeys(before, after map[string]string) []string {
	keys := maps.Clone(after)
	maps.Copy(keys, before)
	return slices.Sorted(maps.Keys(keys))
}
