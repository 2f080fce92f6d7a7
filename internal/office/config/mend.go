package config

import (
	"reflect"
	"slices"
	"strings"

	"company/internal/company"
)

// PlanLine returns the change that adds a proposed line to a file. loaded is the current config. A key that is already
// set keeps its value. Items are added to a list only if the file sets it, or no source does. ok is false if the line
// already holds. The error is EConflict if the key is set and this file must not change it.
func PlanLine(loaded Loaded, file string, line company.ConfigLine) (change Change, ok bool, err error) {
	field, fault := findKey(line.Key)
	if fault != nil {
		return Change{}, false, problems{*fault}.asError("")
	}
	if line.Key == "container.setup" &&
		(loaded.Config.Container.Deps == "off" ||
			loaded.Config.Container.Image != Auto && loaded.Config.Container.Image != "" ||
			loaded.Config.Container.Dockerfile != "") {
		return Change{}, false, company.E(company.EConflict, "a line of container.setup has no effect").
			Because("the image is not built here, or fetches nothing (container.image, container.dockerfile, container.deps)").
			Fix("put it into that image")
	}
	change = Change{File: file, Key: line.Key, Value: line.Value}
	now := flattenConfig(loaded.Config)[line.Key]
	at := loaded.Origin[line.Key]
	where, _ := cutPosition(at)
	isSet := at != "" && at != OriginDefault
	if field.of.Kind() != reflect.Slice {
		value, fault := field.readValue(line.Key, line.Value)
		switch {
		case fault != nil:
			return Change{}, false, problems{*fault}.asError("")
		case renderNode(*value) == now:
			return Change{}, false, nil
		case isSet:
			return Change{}, false, setElsewhere(line, at, now)
		}
		return change, true, nil
	}
	wanted, fault := field.readValue(line.Key, line.Value)
	if fault != nil {
		return Change{}, false, problems{*fault}.asError("")
	}
	have, _ := parseValue(now)
	all := node{kind: nodeList, items: slices.Clone(have.items)}
	for _, item := range wanted.items {
		if !slices.ContainsFunc(have.items, item.equalsValue) {
			all.items = append(all.items, item)
		}
	}
	switch {
	case len(all.items) == len(have.items):
		return Change{}, false, nil
	case isSet && where != file:
		return Change{}, false, setElsewhere(line, at, now)
	case isSet && len(have.items) == 0: // an empty list is deliberate
		return Change{}, false, setElsewhere(line, at, now)
	}
	change.Value = renderNode(all)
	return change, true, nil
}

func setElsewhere(line company.ConfigLine, at, now string) error {
	return company.E(company.EConflict, line.Key+" is set already and stays unchanged").
		Because("it is " + maskValue(line.Key, now) + ", from " + at).Fix("change it there, if you want " + line.String())
}

// RenderDiff renders the change of the file: its path, removed lines with - and added lines with +.
func (c Changed) RenderDiff(file string) string {
	before, after := slices.Collect(strings.Lines(string(c.TextBefore))),
		slices.Collect(strings.Lines(string(c.TextAfter)))
	same := 0
	for same < len(before) && same < len(after) && before[same] == after[same] {
		same++
	}
	end := 0
	for end < len(before)-same && end < len(after)-same && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	var b strings.Builder
	b.WriteString(file)
	if c.TextBefore == nil {
		b.WriteString(" (a new file)")
	}
	b.WriteString("\n")
	write := func(mark string, lines []string) {
		for _, line := range lines {
			b.WriteString(mark + " " + strings.TrimRight(line, "\r\n") + "\n")
		}
	}
	// One line of context on each side shows the position.
	write(" ", before[max(0, same-1):same])
	write("-", before[same:len(before)-end])
	write("+", after[same:len(after)-end])
	write(" ", before[len(before)-end:min(len(before), len(before)-end+1)])
	return b.String()
}
