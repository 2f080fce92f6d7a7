package cc

import (
	"strings"

	"company/internal/lib/lazyregexp"
)

var (
	cmakeVariable = lazyregexp.New(`\$\{([A-Za-z0-9_]+)\}`)
	cmakeSet      = lazyregexp.New(`(?i)\bset\s*\(\s*([A-Za-z0-9_]+)\s+"?([A-Za-z0-9_.+-]+)"?\s*(?:CACHE\b[^)]*)?\)`)
	cmakeQtMajor  = lazyregexp.New(`(?i)^(?:KF|QT)_?(?:MAJOR_VERSION|VERSION_MAJOR)$`)
	cmakeQt5      = lazyregexp.New(`\b(?:Qt|KF)5`)
	cmakeQt6      = lazyregexp.New(`\b(?:Qt|KF)6`)
)

// readVariables returns the values of variables that the project sets. The first value of each counts.
func (p *cmakeProjectFiles) readVariables() map[string]string {
	if p.variables == nil {
		p.variables = map[string]string{}
		for _, f := range p.files {
			for _, m := range cmakeSet.FindAllStringSubmatch(f.text, -1) {
				if _, had := p.variables[m[1]]; !had {
					p.variables[m[1]] = m[2]
				}
			}
		}
		p.qt = "5"
		if anyMatches(p.files, cmakeQt6) && !anyMatches(p.files, cmakeQt5) {
			p.qt = "6"
		}
	}
	return p.variables
}

// fillVariables replaces variables in the name of a package by the values that the project sets. The major version of
// Qt is usually set by the package that CMake finds. It is 6 if the files name only Qt 6, otherwise 5.
func (p *cmakeProjectFiles) fillVariables(name string) string {
	if !strings.Contains(name, "${") {
		return name
	}
	return cmakeVariable.ReplaceAllStringFunc(name, func(ref string) string {
		variable := strings.Trim(ref, "${}")
		if value, ok := p.readVariables()[variable]; ok {
			return value
		}
		if cmakeQtMajor.MatchString(variable) {
			return p.qt
		}
		return ref
	})
}

// addParts adds the packages of the components in a find_package call. For Qt and KDE's frameworks, the name of a
// component's package is the joined name of both. Of Boost, it adds the compiled components. known means that a
// package was added or that the call gives the package other names.
func (w *wishes) addParts(name, args string) (known bool) {
	words := strings.Fields(args)
	if len(words) > 0 && words[0] == "NAMES" {
		return true
	}
	add := func(kind, key string) {
		if p, ok := libraries()[kind+key]; ok {
			w.addPackage(p)
			known = true
		}
	}
	for _, word := range words {
		if word == strings.ToUpper(word) {
			continue
		}
		add(cmakeName, name+word)
		if strings.EqualFold(name, "Boost") {
			add(linkerName, "boost_"+word)
		}
		if strings.EqualFold(name, "Boost") && word == "unit_test_framework" {
			add(cmakeName, "boost_unit_test_framework")
		}
	}
	return known
}
