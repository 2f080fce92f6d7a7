package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"company/internal/company"
	"company/internal/lib/secretscan"
)

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	encodeShown(w, v)
}

// encodeShown writes a value as JSON, with secrets masked.
func encodeShown(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		return // not for the types of answers
	}
	if shown, ok := w.(shownWriter); ok {
		text = shown.secrets.MaskJSON(text)
	}
	_, _ = w.Write(append(text, '\n')) // an error means that the client is gone
}

// shownWriter is the writer of an answer that people are shown.
type shownWriter struct {
	http.ResponseWriter
	secrets *secretscan.Scanner
}

// Unwrap returns the writer, for http.ResponseController.
func (w shownWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// restorePlan puts back the texts of a plan that a person was shown with masks and has not changed. It returns EInvalid
// for a changed text with a mask, which would overwrite the value, and for a mask that stands for several texts.
func (s *Server) restorePlan(plan company.Plan, task *company.Task) (company.Plan, error) {
	if task == nil {
		return plan, nil // the core refuses the command
	}
	var stored, edited []byte
	var err error
	if stored, err = json.Marshal(task); err == nil {
		edited, err = json.Marshal(plan)
	}
	if err != nil {
		return plan, err
	}
	known := map[string]string{} // by the text that was shown; empty if there are several
	secretscan.ReplaceStrings(stored, func(_, value string) string {
		shown := s.secrets.Mask(value)
		if other, ok := known[shown]; ok && other != value {
			value = ""
		}
		known[shown] = value
		return value
	})
	masked := false
	edited = secretscan.ReplaceStrings(edited, func(_, value string) string {
		if was := known[value]; was != "" {
			return was
		}
		masked = masked || strings.Contains(value, secretscan.MaskStart)
		return value
	})
	if masked {
		return plan, company.E(company.EInvalid, "the plan has "+secretscan.MaskStart+"…], which stands for a value that "+
			"was not shown").Fix("write the value there, or describe where the worker finds it")
	}
	var restored company.Plan
	return restored, json.Unmarshal(edited, &restored)
}
