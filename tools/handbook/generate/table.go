package generate

import (
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/office/config"
)

// renderKeys is the table of all keys of company.yaml.
func renderKeys() string {
	var b strings.Builder
	writeHead(&b, "key", "type", "default", "values", "meaning")
	for _, k := range config.Keys() {
		writeRow(&b, quoteCode(k.Name), k.Type, quoteCode(k.Default), k.Allowed, k.Doc)
	}
	return b.String()
}

// renderErrors is a section for each code.
func renderErrors() string {
	var b strings.Builder
	writeHead(&b, "code", "class", "meaning", "what to do", "exit")
	for _, g := range company.ErrorGuides() {
		writeRow(&b, quoteCode(string(g.Code)), quoteCode(string(g.Class)), g.Means, g.Do, strconv.Itoa(g.Exit))
	}
	return b.String()
}

// renderVariables is a table for each area of variables.
func renderVariables() string {
	var b strings.Builder
	area := ""
	for _, v := range config.Variables() {
		if v.Area != area {
			if area != "" {
				b.WriteByte('\n')
			}
			area = v.Area
			b.WriteString("## " + area + "\n\n")
			writeHead(&b, "variable", "meaning")
		}
		writeRow(&b, quoteCode(v.Name), v.Doc)
	}
	return b.String()
}

func quoteCode(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
