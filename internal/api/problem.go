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

// httpStatus of an error code; codes that are missing here are 500.
var httpStatus = map[company.Code]int{
	company.EInvalid: 400, company.EUsage: 400, company.EConfig: 400, company.ENotFound: 404, company.EConflict: 409,
	company.EAccess: 401, company.EStale: 409, company.EStopped: 409, company.EProtected: 403, company.EBudget: 409, company.EPlan: 400,
}

func writeError(w http.ResponseWriter, err error) { writeProblem(w, problemOf(err)) }

func writeProblem(w http.ResponseWriter, p Problem) {
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client is gone, or it has it
}

func problemOf(err error) Problem {
	p := Problem{Title: err.Error(), Code: company.EInternal, Class: company.Fatal, Status: http.StatusInternalServerError}
	var e *company.Error
	if errors.As(err, &e) {
		p = Problem{Title: e.Message, Detail: e.Why, Code: e.Code, Class: company.ClassOf(e), Hint: e.Hint, Run: e.RunID, Details: e.Details, Status: httpStatus[e.Code], CurrentTask: e.CurrentTask, CurrentState: e.CurrentState}
		if e.Op != "" {
			p.Title = e.Op + ": " + p.Title
		}
		if p.Detail == "" && e.Err != nil {
			p.Detail = e.Err.Error()
		}
		if around := textAround(err, e); around != "" {
			p.Detail = strings.TrimSuffix(around+": "+p.Detail, ": ")
		}
		if p.Status == 0 {
			p.Status = http.StatusInternalServerError
		}
	}
	return p
}

// textAround is what err says beside the company's error in it.
func textAround(err error, e *company.Error) string {
	before, after, _ := strings.Cut(err.Error(), e.Error())
	parts := []string{strings.Trim(before, ": \n"), strings.Trim(after, ": \n")}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// asError is the error that a problem document tells.
func (p Problem) asError() *company.Error {
	return &company.Error{Code: p.Code, Class: p.Class, Message: p.Title, Why: p.Detail, Hint: p.Hint, RunID: p.Run, Details: p.Details, CurrentTask: p.CurrentTask, CurrentState: p.CurrentState}
}

// readError is the error that an answer tells. An older version of company
// knows neither these paths nor problem documents.
func readError(resp *http.Response) error {
	var p Problem
	err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxBody)).Decode(&p)
	switch {
	case err == nil && p.Code != "":
		return p.asError()
	case resp.StatusCode == http.StatusNotFound:
		return company.E(company.EConflict, "the company at work here is an older version, which this one cannot talk to").
			Fix("end it when its work is done, and start the company anew")
	}
	return company.E(company.EHeld, "the process that holds the office answered "+resp.Status)
}
