package python

import "strings"

// iniFile is a file of sections as Python's configparser reads it: section, key,
// and the lines of the value.
type iniFile map[string]map[string]string

// readINI reads such a file. Lines that belong nowhere are left out.
func readINI(text string) iniFile {
	f := iniFile{}
	section, key := "", ""
	var value []byte // of the key, as far as it was read: texts that are added to would cost the square
	end := func() {
		if key != "" {
			f[section][key] = string(value)
		}
		key, value = "", nil
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n") {
		bare := strings.TrimSpace(line)
		switch {
		case bare == "" || bare[0] == '#' || bare[0] == ';':
		case (line[0] == ' ' || line[0] == '\t') && key != "":
			if len(value) > 0 {
				value = append(value, '\n')
			}
			value = append(value, bare...)
		case bare[0] == '[' && strings.HasSuffix(bare, "]"):
			end()
			section = bare[1 : len(bare)-1]
			if f[section] == nil {
				f[section] = map[string]string{}
			}
		default:
			end()
			if i := strings.IndexAny(bare, "=:"); i > 0 && f[section] != nil {
				key = strings.ToLower(strings.TrimSpace(bare[:i]))
				value = []byte(strings.TrimSpace(bare[i+1:]))
			}
		}
	}
	end()
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
