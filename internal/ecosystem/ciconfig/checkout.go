package ciconfig

import (
	"path"
	"strings"

	"company/internal/ecosystem"
)

// checkouts tracks the repositories that the steps of a job have checked out.
type checkouts struct {
	own     string // the folder of this repository; "" is the root
	hasOwn  bool
	text    string   // the folder as the step has it, if only the CI knows its value
	foreign []string // the folders of other repositories
}

// add records a checkout by a step.
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

// place converts a folder of the CI to a folder of this repository. foreign means that it belongs to another
// repository.
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
			best = at
			isOwn = false
			foreign = true
		}
	}
	switch {
	case foreign:
		return "", true, true
	case !isOwn: // outside of this repository's folder
		return "", true, false
	}
	return strings.TrimPrefix(strings.TrimPrefix(dir, c.own), "/"), false, false
}

// isBelow reports whether a folder is top or is below it.
func isBelow(dir, top string) bool {
	return top == "" || dir == top || strings.HasPrefix(dir, path.Clean(top)+"/")
}
