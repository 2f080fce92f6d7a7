package python

import (
	"fmt"
	"strings"
	"unicode"
)

// iniFile holds the values of a configparser file by section and key. Keys are in lower case. A value may
// have several lines. If a section has a key twice, the value combines both.
type iniFile map[string]map[string]string

// readINI parses such a file. It skips a line that configparser rejects. odd describes the first part that
// some of the programs that read the file interpret differently, or is empty. The versions of configparser
// differ, and tox up to version 3 has its own parser.
func readINI(text string) (file iniFile, odd string) {
	sections := map[string]map[string][]byte{}
	var section, key string
	var level int
	note := func(format string, args ...any) {
		if odd == "" {
			odd = fmt.Sprintf(format, args...)
		}
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r", "\n\r"), "\n") {
		if strings.ContainsFunc(line, func(c rune) bool { return c != '\t' && isLineEnd(c) }) {
			note("a character besides \\n at which some programs end a line, in %.100q", line)
		}
		line = strings.TrimPrefix(line, "\r")
		bare := strings.TrimFunc(line, isPythonSpace)
		indent := strings.Index(line, bare)
		if bare == "" || bare[0] == '#' || bare[0] == ';' {
			continue
		}
		if key != "" && indent > level {
			sections[section][key] = append(append(sections[section][key], '\n'), bare...)
			continue
		}
		key, level = "", indent
		if at := strings.LastIndexByte(bare, ']'); bare[0] == '[' && at > 1 {
			section = bare[1:at]
			if at < len(bare)-1 || strings.Contains(section, "]") {
				note("more than the name of a section in the line %.100q", line)
			}
			if sections[section] == nil {
				sections[section] = map[string][]byte{}
			}
			continue
		}
		if i := strings.IndexAny(bare, "=:"); i > 0 && sections[section] != nil {
			key = strings.ToLower(strings.TrimFunc(bare[:i], isPythonSpace))
			value := sections[section][key]
			if value != nil {
				note("the key %.100q twice in the section %.100q", key, section)
				value = append(value, '\n')
			}
			sections[section][key] = append(value, strings.TrimFunc(bare[i+1:], isPythonSpace)...)
			if sections[section][key] == nil {
				sections[section][key] = []byte{}
			}
		}
	}
	file = iniFile{}
	for name, values := range sections {
		file[name] = map[string]string{}
		for key, value := range values {
			file[name][key] = string(value)
		}
	}
	return file, odd
}

// isPythonSpace reports whether Python treats a character as white space.
func isPythonSpace(c rune) bool { return unicode.IsSpace(c) || c >= 0x1c && c <= 0x1f }

// splitLines returns the lines of a value without comments and empty lines.
func splitLines(value string) (out []string) {
	for line := range strings.SplitSeq(value, "\n") {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out
}
