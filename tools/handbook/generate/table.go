package generate

import (
	"cmp"
	"strings"

	"company/internal/company"
	"company/internal/office/config"
)

// renderKeys renders the table of all keys of company.yaml. Keys that each role has are one row.
func renderKeys() string {
	var b strings.Builder
	writeHead(&b, "key", "values", "default", "meaning")
	seen := map[string]bool{}
	for _, k := range config.Keys() {
		name := k.Name
		if parts := strings.Split(name, "."); parts[0] == "agents" && parts[2] != "escalate_to" {
			name = "agents.<role>." + parts[2]
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		writeRow(&b, quoteCode(name), describeValues(k), quoteCode(k.Default), k.Doc)
	}
	return b.String()
}

// describeValues describes the values of a key: the allowed ones, or else its type. A plural is a list.
func describeValues(k config.Key) string {
	switch {
	case k.Type != "list" || k.Allowed == "":
		return cmp.Or(k.Allowed, k.Type)
	case strings.Contains(k.Allowed, ","):
		return "any of " + k.Allowed
	}
	return k.Allowed + "s"
}

// renderErrors renders a row for each code.
func renderErrors() string {
	var b strings.Builder
	writeHead(&b, "code", "class", "meaning", "what to do")
	for _, g := range company.ErrorGuides() {
		writeRow(&b, quoteCode(string(g.Code)), quoteCode(string(g.Class)), g.Means, g.Do)
	}
	return b.String()
}

// renderVariables renders a table for each area. Neighbours with the same description are one row.
func renderVariables() string {
	var b strings.Builder
	area := ""
	all := config.Variables()
	for i := 0; i < len(all); {
		v := all[i]
		if v.Area != area {
			if area != "" {
				b.WriteByte('\n')
			}
			area = v.Area
			b.WriteString("## " + area + "\n\n")
			writeHead(&b, "variable", "meaning")
		}
		var names []string
		for ; i < len(all) && all[i].Area == v.Area && all[i].Doc == v.Doc; i++ {
			names = append(names, quoteCode(all[i].Name))
		}
		writeRow(&b, strings.Join(names, ", "), v.Doc)
	}
	return b.String()
}

func quoteCode(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
