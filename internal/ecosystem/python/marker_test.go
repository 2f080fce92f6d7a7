package python

import "testing"

// Markers are read as pip's own library does.
func TestMarkers(t *testing.T) {
	env := debianEnvironment("amd64")
	env.extras, env.groups = []string{"test"}, []string{"dev"}
	for marker, want := range map[string]bool{
		"": true, "python_version >= '3.8'": true, "python_version < '3.10'": false,
		"python_version < \"3.9\" or sys_platform == 'linux'":                       true,
		"python_version>='3' and (os_name == 'nt' or platform_system != 'Windows')": true,
		"python_full_version < '3.11.0a6'":                                          false,
		"python_full_version <= '3.11.0a6'":                                         false,
		"'3.10' <= python_version":                                                  true, "'3.12' <= python_version": false,
		"python_version == '3.11.*'": true, "python_version ~= '3.10'": true,
		"platform_machine in 'x86_64 amd64'": true, "platform_machine not in 'x86_64 amd64'": false,
		"platform_machine == 'aarch64'": false, "implementation_name == 'pypy'": false,
		"extra == 'test'": true, "extra == 'docs'": false, "extra == 'Test'": true, "'dev' in dependency_groups": true,
		"'test' in extras and 'x' not in dependency_groups":                       true,
		"platform_python_implementation == 'CPython' and sys.platform == 'linux'": true,
		"nonsense": true, "((((": true, "python_version >=": true, "whoami == 'x'": true, // not to be read: pip is asked
	} {
		if got := env.holdsMarker(marker); got != want {
			t.Errorf("%q: %v", marker, got)
		}
	}
}

// Poetry's constraints, in the words of everybody else.
func TestTranslatedConstraints(t *testing.T) {
	for text, want := range map[string]string{
		"^1.2.3": ">=1.2.3,<2", "^0.2.3": ">=0.2.3,<0.3", "^0.0.3": ">=0.0.3,<0.0.4", "^0": ">=0,<1", "^1.9": ">=1.9,<2",
		"^9": ">=9,<10", "~1.2.3": ">=1.2.3,<1.3", "~1": ">=1,<2", "~=1.2": "~=1.2",
		"*": "", "": "", "1.2": "==1.2", "1.*": "==1.*", ">=1, <2.0": ">=1,<2.0", ">=1 || <0.5": "", "$(touch x)": "",
		"!=1.5,>1": "!=1.5,>1",
	} {
		if got := translateConstraint(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzMarkers(f *testing.F) {
	f.Add("python_version >= '3.8' and (extra == 'x')")
	f.Add("name[a,b] (>=1,<2) ; marker")
	f.Fuzz(func(_ *testing.T, text string) {
		debianEnvironment("arm64").holdsMarker(text)
		_, _ = parseRequirement(text)
		translateConstraint(text)
	})
}
