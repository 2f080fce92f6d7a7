package python

import "testing"

// A text for people has the name of a list at times. What pip may install, or a program may read, is none.
func TestTextsThatAreNoLists(t *testing.T) {
	const text = "System requirements\n===================\n\nThe server needs 4 GB of memory.\nWindows 10 or later is " +
		"supported.\n"
	for name, c := range map[string]struct {
		file, text string
		packages   int
	}{
		"a text":             {"docs/system_requirements.txt", text, 0},
		"in capitals":        {"docs/System_Requirements.txt", text, 0},
		"of another program": {"cmake/timing_constraints.txt", "# Clocks\nset_clock 2\n", 0},
		"points":             {"docs/system-requirements.txt", "* 4 GB of memory\n* Windows or Linux\n", 0},
		"a list": {"dev-requirements.txt",
			"six\nflask==1.0  # a remark of words\npytest >= 3 ; python_version > '3'\n", 3},
		"a list with a sentence": {"dev-requirements.txt", "six\nflask\nThis is more.\n", 3},
		"at the usual place":     {"requirements.txt", text + "evil\n", 4},
		"in capitals, usual":     {"Requirements.txt", "evil\nWindows 10 or later\nand so on\n", 3},
		"names on lines":         {"docs/system_requirements.txt", "Windows\nLinux\nmacOS or so\n", 3},
		"archives":               {"more_requirements.txt", "evil\na b.whl\na b.tar.gz\na b.whl[x]\n", 4},
		"paths":                  {"more_requirements.txt", "evil\na b/c\n./a b\na b\\c\n", 3},
		"addresses":              {"more_requirements.txt", "evil\na @ https://x.example/a.whl\nfile: a\n", 1},
		"variables":              {"more_requirements.txt", "evil\na ${B}\n", 2},
		"markers and bounds":     {"more_requirements.txt", "a ; python_version > '3'\nb >= 1\nc [x]\nd (>=1)\n", 4},
		"options":                {"more_requirements.txt", "-r a b\n--index-url https://x.example x\nevil\n", 1},
	} {
		all, err := Ecosystem{}.ParseLock(c.file, []byte(c.text))
		if len(all) != c.packages || err != nil {
			t.Errorf("%s: %v, %v", name, all, err)
		}
		if !(Ecosystem{}).IsLockFile(c.file) {
			t.Errorf("%s: %s is not judged", name, c.file)
		}
	}
}
