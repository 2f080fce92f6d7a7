package company

import (
	"slices"
	"strings"
)

// ConfigLine is a config line that fixes a problem of a task, or that doctor suggests. A person must agree before any
// file is written.
type ConfigLine struct {
	Key   string `json:"key"`           // gates.test
	Value string `json:"value"`         // in the form that company config set takes; for a list, the items to add
	Why   string `json:"why,omitempty"` // the reason, for people
	// File is the file that the line would be written to. Text is the key with its whole value after the change. Both are
	// empty until the place of the line is known.
	File string `json:"file,omitempty"`
	Text string `json:"text,omitempty"`
}

// String formats the line for people.
func (l ConfigLine) String() string {
	if l.Text != "" {
		return l.Text
	}
	return l.Key + ": " + l.Value
}

// IsSame reports whether two lines would write the same change.
func (l ConfigLine) IsSame(o ConfigLine) bool {
	return l.Key == o.Key && l.Value == o.Value && l.File == o.File
}

// mendingKeys lists the keys that a question may offer to write. Their values run at most in a locked container, and
// loosen no check.
var mendingKeys = []string{"container.setup", "deps.without", "gates.lint", "gates.services", "gates.test"}

// maxConfigLine limits each text of a line, in bytes.
const maxConfigLine = 2000

// placedLine returns a copy of a line that a question may offer, or nil. It rejects a line without a file, since that
// could not be shown before it is written.
func placedLine(configLine *ConfigLine) *ConfigLine {
	if configLine == nil || configLine.File == "" || configLine.Text == "" ||
		!slices.Contains(mendingKeys, configLine.Key) {
		return nil
	}
	for _, text := range []string{configLine.Value, configLine.Text, configLine.File} {
		if len(text) > maxConfigLine || strings.ContainsAny(text, "\n\r\x00") {
			return nil
		}
	}
	c := *configLine
	c.Why = cutText(c.Why, maxConfigLine)
	return &c
}

// addToQuestion appends the line to a question. A nil line leaves the question unchanged.
func (l *ConfigLine) addToQuestion(question string) string {
	if l == nil {
		return question
	}
	return endSentence(question) + " This line would mend it, in your own file " + l.File + ": " + l.Text
}

// InstallPackages returns the line that installs Debian packages in the image of a project.
func InstallPackages(names ...string) ConfigLine {
	return ConfigLine{Key: "container.setup",
		Value: `["apt-get update && apt-get install -y ` + strings.Join(names, " ") + `"]`}
}
