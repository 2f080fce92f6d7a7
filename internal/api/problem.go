package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"company/internal/company"
)

// problemType is the media type of an error (RFC 9457).
const problemType = "application/problem+json"

// httpStatus maps error codes to HTTP statuses. Other codes map to 500.
var httpStatus = map[company.Code]int{
	company.EInvalid: 400, company.EUsage: 400, company.EConfig: 400, company.ENotFound: 404, company.EConflict: 409,
	company.EAccess: 401, company.EStale: 409, company.EStopped: 409, company.EProtected: 403, company.EBudget: 409,
	company.EPlan: 400,
}

func writeError(w http.ResponseWriter, err error) { writeProblem(w, NewProblem(err)) }

func writeProblem(w http.ResponseWriter, problem Problem) {
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(problem.Status)
	encodeShown(w, problem)
}

// NewProblem converts an error into a problem document.
func NewProblem(err error) Problem {
	problem := Problem{Title: err.Error(), Code: company.EInternal, Class: company.Fatal,
		Status: http.StatusInternalServerError}
	var fault *company.Error
	if errors.As(err, &fault) {
		shown := fault.ForDisplay()
		problem = Problem{Title: fault.Message, Detail: fault.Why, Code: fault.Code, Class: shown.Class,
			Hint: fault.Hint, Run: fault.RunID, Phase: shown.Phase, Number: shown.Number, Cause: shown.Cause,
			Details: fault.Details, Status: httpStatus[fault.Code], CurrentTask: fault.CurrentTask,
			CurrentState: fault.CurrentState}
		if fault.Op != "" {
			problem.Title = fault.Op + ": " + problem.Title
		}
		if problem.Detail == "" && fault.Err != nil {
			problem.Detail = fault.Err.Error()
		}
		if problem.Cause == problem.Detail {
			problem.Cause = ""
		}
		if around := textAround(err, fault); around != "" {
			problem.Detail = strings.TrimSuffix(around+": "+problem.Detail, ": ")
		}
		if problem.Status == 0 {
			problem.Status = http.StatusInternalServerError
		}
	}
	return problem
}

// textAround returns the text of err without the text of the company's error in it.
func textAround(err error, e *company.Error) string {
	before, after, _ := strings.Cut(err.Error(), e.Error())
	parts := []string{strings.Trim(before, ": \n"), strings.Trim(after, ": \n")}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// AsError converts a problem document into an error.
func (p Problem) AsError() *company.Error {
	var cause error
	if p.Cause != "" {
		cause = errors.New(p.Cause)
	}
	return &company.Error{Err: cause, Code: p.Code, Class: p.Class, Message: p.Title, Why: p.Detail, Hint: p.Hint,
		RunID: p.Run, Details: p.Details, CurrentTask: p.CurrentTask, CurrentState: p.CurrentState}
}

// readError returns the error in an answer. An older version of company supports neither these
// paths nor problem documents.
func readError(resp *http.Response) error {
	var problem Problem
	err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxBody)).Decode(&problem)
	switch {
	case err == nil && problem.Code != "":
		return problem.AsError()
	case resp.StatusCode == http.StatusNotFound:
		return company.E(company.EConflict, "the running company is an older version, which this one cannot talk to").
			Fix("stop it when its work is done, then start company again")
	}
	return company.E(company.EHeld, "the process that holds the office answered "+resp.Status)
}
