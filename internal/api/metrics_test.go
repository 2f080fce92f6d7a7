package api

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"company/internal/present/view"
)

// TestMetrics: a real parser of Prometheus takes the metrics, their numbers are those of the
// office, and no task's id is among their labels.
func TestMetrics(t *testing.T) {
	o, client := serveBusyOffice(t)
	resp, err := client.way.http.Get("http://office/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != metricsType {
		t.Fatalf("%v, %d, %v", err, resp.StatusCode, resp.Header)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	number := func(name, label string) float64 {
		t.Helper()
		f := families[name]
		if f == nil {
			t.Errorf("there is no %s", name)
			return -1
		}
		for _, m := range f.Metric {
			if label == "" || m.Label[0].GetValue() == label {
				return max(m.Counter.GetValue(), m.Gauge.GetValue())
			}
		}
		t.Errorf("%s has no %s", name, label)
		return -1
	}
	for _, c := range []struct {
		name, label string
		want        float64
	}{
		{"company_build_info", "test", 1}, {"company_ledger_events_total", "", float64(o.View().Seq)},
		{"company_office_stopped", "", 0},
		{"company_tasks_open", "awaiting_input", 1}, {"company_tasks_open", "pending", 1}, {"company_runs_held", "worker", 1},
		{"company_runs_held", "merger", 0},
		{"company_subtasks_open", "running", 1}, {"company_tasks_submitted_total", "", 5}, {"company_questions_open", "", 1},
		{"company_merge_queue_length", "", 0},
	} {
		if got := number(c.name, c.label); got != c.want {
			t.Errorf("%s %s: %v, want %v\n%s", c.name, c.label, got, c.want, text)
		}
	}
	if number("go_goroutines", "") < 2 || number("go_memstats_heap_alloc_bytes", "") < 1000 {
		t.Errorf("%s", text)
	}
	if strings.Contains(string(text), `"t1"`) {
		t.Error("a task's id is a label")
	}
	hostile := string(renderMetrics(view.Source{State: o.View()}, "1\"\n\\x"))
	if _, err := parser.TextToMetricFamilies(strings.NewReader(hostile)); err != nil {
		t.Errorf("%v\n%s", err, hostile[:300])
	}
}
