package cifile

import (
	"path"
	"strings"

	"company/internal/ecosystem"
)

// checkouts are the repositories that the steps of a job have checked out so far.
type checkouts struct {
	own     string // the folder of this repository; "" is the root
	hasOwn  bool
	text    string   // the same as the step has it, which may hold a value that only the CI knows
	foreign []string // the folders of others
}

// add notes what a step checks out.
func (c *checkouts) add(step *ecosystem.YAMLValue) {
	if !strings.HasPrefix(step.FieldText("uses"), "actions/checkout@") {
		return
	}
	with := step.Field("with")
	text := with.FieldText("path")
	at, elsewhere := joinDir(text)
	switch repository := with.FieldText("repository"); {
	case elsewhere && repository == "":
		c.text = text
	case elsewhere:
	case repository != "" && !strings.Contains(repository, "github."):
		c.foreign = append(c.foreign, at)
	default:
		c.own, c.hasOwn = at, true
	}
}

// place is a folder of the CI as a folder of this repository. foreign says that it is one of another repository.
func (c checkouts) place(dir string) (folder string, elsewhere, foreign bool) {
	if c.text != "" && (dir == c.text || strings.HasPrefix(dir, c.text+"/")) {
		dir = path.Join(".", c.own, strings.TrimPrefix(dir, c.text))
	}
	dir, elsewhere = joinDir(dir)
	if elsewhere {
		return "", true, false
	}
	best, isOwn := "", false
	if isBelow(dir, c.own) && (c.hasOwn || len(c.foreign) == 0 || c.foreign[0] != "") {
		best, isOwn = c.own, true
	}
	for _, at := range c.foreign {
		if isBelow(dir, at) && (!isOwn || len(at) > len(best)) {
			best, isOwn, foreign = at, false, true
		}
	}
	switch {
	case foreign:
		return "", true, true
	case !isOwn: // beside this repository
		return "", true, false
	}
	return strings.TrimPrefix(strings.TrimPrefix(dir, c.own), "/"), false, false
}

// isBelow reports whether a folder is another one, or lies in it.
func isBelow(dir, top string) bool {
	return top == "" || dir == top || strings.HasPrefix(dir, path.Clean(top)+"/")
}
