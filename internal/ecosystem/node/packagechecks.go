package node

import (
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
)

// packageChecks are the checks of one package.
type packageChecks struct {
	lints, types, tests []namedGate
	build               *company.GateCommand
	browsers            []string        // programs in its scripts that drive a browser
	scripted            bool            // its tests are those of a script called test
	projects            *runnerProjects // packages whose tests run with these, where that is known
}

// findAll finds the checks of a package.
func (s scriptChecks) findAll() *packageChecks {
	c := &packageChecks{build: s.findBuild()}
	for _, known := range []struct {
		into *[]namedGate
		gate *company.GateCommand
	}{{&c.lints, s.findLint()}, {&c.types, s.findTypes()}} {
		if known.gate != nil {
			*known.into = append(*known.into, namedGate{gate: known.gate})
		}
	}
	s.findTests(c)
	return c
}

// hasAny reports whether there is a check of any kind.
func (c *packageChecks) hasAny() bool {
	return len(c.lints)+len(c.types)+len(c.tests) > 0 || c.build != nil
}

// leaveOutCovered leaves out the kinds of checks that the package above has. A provisional one
// above stands for no script of a workspace.
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

// components are the checks of a package, one of each kind to a component. The first has
// those without a label.
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
