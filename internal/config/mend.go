package config

import (
	"reflect"
	"slices"
	"strings"

	"company/internal/company"
)

// PlanLine is the change by which a file gets a line that was proposed. l is the config as it
// is. A key that something sets already keeps its value; of a list that the file itself sets, or
// nothing, missing items are added. Not ok: the line holds already. EConflict: the
// key is set, and is not the file's to change.
func PlanLine(l Loaded, file string, line company.ConfigLine) (c Change, ok bool, err error) {
	field, fault := findKey(line.Key)
	if fault != nil {
		return Change{}, false, problems{*fault}.asError("")
	}
	if line.Key == "container.setup" && (l.Config.Container.Deps == "off" || l.Config.Container.Image != Auto && l.Config.Container.Image != "" || l.Config.Container.Dockerfile != "") {
		return Change{}, false, company.E(company.EConflict, "a line of container.setup would not do it").
			Because("the image is no one of ours, or fetches nothing (container.image, container.dockerfile, container.deps)").Fix("put it into that image")
	}
	c = Change{File: file, Key: line.Key, Value: line.Value}
	now := flattenConfig(l.Config)[line.Key]
	at := l.Origin[line.Key]
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
		return c, true, nil
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
	case isSet && len(have.items) == 0: // an empty list is a choice
		return Change{}, false, setElsewhere(line, at, now)
	}
	c.Value = renderNode(all)
	return c, true, nil
}

func setElsewhere(line company.ConfigLine, at, now string) error {
	return company.E(company.EConflict, line.Key+" is set already, and is left as it is").
		Because("it is " + maskValue(line.Key, now) + ", from " + at).Fix("change it there, if you want " + line.String())
}

// RenderDiff is the change of the file in lines: its path, what goes with -, what comes with +.
func (c Changed) RenderDiff(file string) string {
	before, after := slices.Collect(strings.Lines(string(c.TextBefore))), slices.Collect(strings.Lines(string(c.TextAfter)))
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
	// One line around the change says where it is.
	write(" ", before[max(0, same-1):same])
	write("-", before[same:len(before)-end])
	write("+", after[same:len(after)-end])
	write(" ", before[len(before)-end:min(len(before), len(before)-end+1)])
	return b.String()
}
