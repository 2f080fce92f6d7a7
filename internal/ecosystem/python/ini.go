package python

import "strings"

// iniFile is a file of sections as Python's configparser reads it: section, key,
// and the lines of the value.
type iniFile map[string]map[string]string

// readINI reads such a file. Lines that belong nowhere are left out.
func readINI(text string) iniFile {
	f := iniFile{}
	section, key := "", ""
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n") {
		bare := strings.TrimSpace(line)
		switch {
		case bare == "" || bare[0] == '#' || bare[0] == ';':
		case (line[0] == ' ' || line[0] == '\t') && key != "":
			f[section][key] = strings.TrimPrefix(f[section][key]+"\n"+bare, "\n")
		case bare[0] == '[' && strings.HasSuffix(bare, "]"):
			section, key = bare[1:len(bare)-1], ""
			if f[section] == nil {
				f[section] = map[string]string{}
			}
		default:
			i := strings.IndexAny(bare, "=:")
			if i <= 0 || f[section] == nil {
				key = ""
				continue
			}
			key = strings.ToLower(strings.TrimSpace(bare[:i]))
			f[section][key] = strings.TrimSpace(bare[i+1:])
		}
	}
	return f
}

// splitLines are the lines of a value that hold something.
func splitLines(value string) (out []string) {
	for line := range strings.SplitSeq(value, "\n") {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out
}
