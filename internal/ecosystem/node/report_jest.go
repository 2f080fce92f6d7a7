package node

import (
	"encoding/json"
	"path"
	"strings"

	"company/internal/ecosystem/testreport"
)

// jestReport holds the relevant fields in the output of jest --json and of vitest's json reporter.
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

func readJest(text []byte) *testreport.Results {
	res := &testreport.Results{}
	var r jestReport
	if err := json.Unmarshal(text, &r); err != nil || r.Total == nil {
		res.ParseError = "no report of jest"
		return res
	}
	for _, f := range r.TestResults {
		file := strings.TrimPrefix(path.Clean(f.Name), workspaceDir)
		failed := false
		for _, a := range f.AssertionResults {
			name := file + " " + a.FullName
			switch a.Status {
			case "passed":
				res.AddPass(name)
			case "failed":
				failed = true
				res.AddFailure(name, strings.Join(a.FailureMessages, " "))
			default:
				res.AddSkip()
			}
		}
		if f.Status == "failed" && !failed {
			res.AddUnrun(file+" (did not run)", f.Message)
		}
	}
	return res
}
