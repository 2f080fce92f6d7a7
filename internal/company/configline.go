package company

import (
	"slices"
	"strings"
)

// ConfigLine is a line of the config that mends what stands in the way of a task, or that
// doctor proposes. It is a proposal: a person says yes before any file is written.
type ConfigLine struct {
	Key   string `json:"key"`           // gates.test
	Value string `json:"value"`         // as company config set takes it; of a list: the items to be added
	Why   string `json:"why,omitempty"` // the reason, for people
	// File is the file that it would be written to, and Text the key with its whole value as it
	// stands there afterwards. Both are empty until it is known where the line belongs.
	File string `json:"file,omitempty"`
	Text string `json:"text,omitempty"`
}

// String is the line for people.
func (l ConfigLine) String() string {
	if l.Text != "" {
		return l.Text
	}
	return l.Key + ": " + l.Value
}

// IsSame reports whether two lines would write the same.
func (l ConfigLine) IsSame(o ConfigLine) bool {
	return l.Key == o.Key && l.Value == o.Value && l.File == o.File
}

// mendingKeys are the keys that a question may offer to write. What they name runs in a locked
// container at most, and loosens no check.
var mendingKeys = []string{"container.setup", "deps.without", "gates.lint", "gates.services", "gates.test"}

// maxConfigLine bounds the texts of a line, in bytes.
const maxConfigLine = 2000

// placedLine is a line that a question may offer, or nil: one without a file could not be
// shown before it is written.
func placedLine(l *ConfigLine) *ConfigLine {
	if l == nil || l.File == "" || l.Text == "" || !slices.Contains(mendingKeys, l.Key) {
		return nil
	}
	for _, text := range []string{l.Value, l.Text, l.File} {
		if len(text) > maxConfigLine || strings.ContainsAny(text, "\n\r\x00") {
			return nil
		}
	}
	c := *l
	c.Why = cutText(c.Why, maxConfigLine)
	return &c
}

// addToQuestion puts the line behind a question. Without a line the question stays as it is.
func (l *ConfigLine) addToQuestion(question string) string {
	if l == nil {
		return question
	}
	return endSentence(question) + " This line would mend it, in your own file " + l.File + ": " + l.Text
}

// InstallPackages is the line that installs packages of Debian in the image of a project.
func InstallPackages(names ...string) ConfigLine {
	return ConfigLine{Key: "container.setup", Value: `["apt-get update && apt-get install -y ` + strings.Join(names, " ") + `"]`}
}
