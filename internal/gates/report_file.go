package gates

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"
)

// readJUnit reads FormatJUnit XML as pytest, vitest and many others write it. No
// entity of a document type is ever expanded.
func readJUnit(text []byte) *testResults {
	res := &testResults{}
	d := xml.NewDecoder(bytes.NewReader(text))
	var class, test, name string
	var failed, unrun, skipped, in, any bool
	var message strings.Builder
	depth := 0
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || depth > 1000 {
			res.parseError = "no JUnit XML"
			return res
		}
		switch t := tok.(type) {
		case xml.StartElement:
			depth++
			switch t.Name.Local {
			case "testsuite", "testsuites":
				any = true
			case "testcase":
				class, test = xmlAttr(t, "classname"), xmlAttr(t, "name")
				name, failed, unrun, skipped, in = strings.TrimSpace(class+" "+test), false, false, false, true
				message.Reset()
			case "failure", "error":
				failed = failed || in
				unrun = unrun || in && isCollectionFailure(class, test, xmlAttr(t, "message"))
				message.WriteString(cleanName(xmlAttr(t, "message"), maxMessage))
			case "skipped":
				skipped = true
			}
		case xml.EndElement:
			depth--
			if t.Name.Local != "testcase" {
				continue
			}
			in = false
			switch {
			case failed && unrun:
				res.addUnrun(name, message.String())
			case failed:
				res.addFailure(name, message.String())
			case skipped:
				res.addSkip()
			default:
				res.addPass(name)
			}
		}
	}
	if !any {
		res.parseError = "no JUnit XML"
	}
	return res
}

// isCollectionFailure says whether a failure is that of a file whose tests could not
// be found out: pytest says so, vitest reports a test that is called like its
// file.
func isCollectionFailure(class, name, message string) bool {
	return strings.HasPrefix(message, "collection failure") || class != "" && class == name
}

func xmlAttr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// jestReport is what counts of what jest --json and vitest's json reporter
// write.
type jestReport struct {
	TestResults []struct {
		Name             string `json:"name"`
		Status           string `json:"status"`
		Message          string `json:"message"`
		AssertionResults []struct {
			FullName        string   `json:"fullName"`
			Status          string   `json:"status"`
			FailureMessages []string `json:"failureMessages"`
		} `json:"assertionResults"`
	} `json:"testResults"`
	Total *int `json:"numTotalTests"`
}

func readJest(text []byte) *testResults {
	res := &testResults{}
	var r jestReport
	if err := json.Unmarshal(text, &r); err != nil || r.Total == nil {
		res.parseError = "no report of jest"
		return res
	}
	for _, f := range r.TestResults {
		file := trimWorkspace(f.Name)
		failed := false
		for _, a := range f.AssertionResults {
			name := file + " " + a.FullName
			switch a.Status {
			case "passed":
				res.addPass(name)
			case "failed":
				failed = true
				res.addFailure(name, strings.Join(a.FailureMessages, " "))
			default:
				res.addSkip()
			}
		}
		if f.Status == "failed" && !failed {
			res.addUnrun(file+" (did not run)", f.Message)
		}
	}
	return res
}

// workspaceDir is where the tree lies in a gate's container.
const workspaceDir = "/work/repo/"

func trimWorkspace(p string) string { return strings.TrimPrefix(path.Clean(p), workspaceDir) }
