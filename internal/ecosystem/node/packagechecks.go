package node

import (
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
)

// packageChecks holds the checks of one package.
type packageChecks struct {
	lints, types, tests []namedGate
	build               *company.GateCommand
	browsers            []string        // programs in its scripts that run tests in a browser
	scripted            bool            // its tests are from the script named test
	projects            *runnerProjects // packages whose tests these tests include, or nil if unknown
}

// findAll finds the checks of a package.
func (s scriptChecks) findAll() *packageChecks {
	checks := &packageChecks{build: s.findBuild()}
	for _, known := range []struct {
		into *[]namedGate
		gate *company.GateCommand
	}{{&checks.lints, s.findLint()}, {&checks.types, s.findTypes()}} {
		if known.gate != nil {
			*known.into = append(*known.into, namedGate{gate: known.gate})
		}
	}
	s.findTests(checks)
	return checks
}

// hasAny reports whether there is a check of any kind.
func (c *packageChecks) hasAny() bool {
	return len(c.lints)+len(c.types)+len(c.tests) > 0 || c.build != nil
}

// leaveOutCovered removes the kinds of checks that the package above also has. A provisional check above
// does not replace a check that is not provisional.
func (c *packageChecks) leaveOutCovered(tree *ecosystem.Tree, dir string, above *packageChecks) {
	stands := func(own, above []namedGate) bool {
		return len(own) > 0 && len(above) > 0 && (!above[0].gate.Provisional || own[0].gate.Provisional)
	}
	if stands(c.lints, above.lints) {
		c.lints = nil
	}
	if stands(c.types, above.types) {
		c.types = nil
	}
	if above.build != nil && c.build != nil && (!above.build.Provisional || c.build.Provisional) {
		c.build = nil
	}
	switch {
	case len(above.tests) == 0 || !above.reachesPackages():
	case above.projects == nil:
		c.tests = nil
	default:
		c.tests = slices.DeleteFunc(c.tests, func(g namedGate) bool {
			return g.gate.Parse == above.projects.format && above.projects.isConfigured(tree, dir)
		})
	}
}

// components returns the checks of a package as components with at most one check of each kind. The first
// component has the checks without a label.
func (c *packageChecks) components(like ecosystem.Component) []ecosystem.Component {
	main := like
	main.Build = c.build
	out := []ecosystem.Component{main}
	for _, kind := range []struct {
		all []namedGate
		at  func(*ecosystem.Component) **company.GateCommand
	}{
		{c.lints, func(c *ecosystem.Component) **company.GateCommand { return &c.Lint }},
		{c.types, func(c *ecosystem.Component) **company.GateCommand { return &c.Types }},
		{c.tests, func(c *ecosystem.Component) **company.GateCommand { return &c.Test }},
	} {
		for _, named := range kind.all {
			if named.label == "" {
				*kind.at(&out[0]) = named.gate
				continue
			}
			part := like
			part.Label = named.label
			*kind.at(&part) = named.gate
			out = append(out, part)
		}
	}
	if !out[0].HasCheck() {
		return out[1:]
	}
	return out
}
