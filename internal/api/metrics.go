package api

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"runtime/metrics"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/present/view"
)

// metricsType is the media type of Prometheus' text format.
// https://prometheus.io/docs/instrumenting/exposition_formats/
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

// serveMetrics returns the office's metrics for Prometheus. docs/api.md lists their names and
// units.
func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", metricsType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(renderMetrics(s.source(), s.info.Version)) // an error means that the client is gone
}

// metricText collects metrics in the text format.
type metricText struct{ bytes.Buffer }

// beginMetric starts a metric. Its samples must follow.
func (m *metricText) beginMetric(name, kind, help string) {
	fmt.Fprintf(m, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// addSample adds a sample. labels alternates names and values.
func (m *metricText) addSample(name string, value float64, labels ...string) {
	m.WriteString(name)
	for i := 0; i < len(labels); i += 2 {
		m.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		m.WriteString(labels[i] + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		m.WriteByte('}')
	}
	m.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

// addSingle adds a metric with one sample.
func (m *metricText) addSingle(name, kind, help string, value float64) {
	m.beginMetric(name, kind, help)
	m.addSample(name, value)
}

// addByLabel adds a metric with a sample for each value of a label. Values without a count are
// zero, so that series do not appear and disappear.
func (m *metricText) addByLabel(name, help, label string, counts map[string]int, values []string) {
	m.beginMetric(name, "gauge", help)
	for _, v := range values {
		m.addSample(name, float64(counts[v]), label, v)
	}
}

// renderMetrics renders the current metrics. Labels have a few fixed values and no ids, so that a
// metrics database does not grow with the tasks.
func renderMetrics(src view.Source, version string) []byte {
	src = src.WithSchedule()
	state := src.State
	var m metricText
	m.beginMetric("company_build_info", "gauge", "The program that answers; always 1.")
	m.addSample("company_build_info", 1, "version", version)
	m.addSingle("company_ledger_events_total", "counter", "Events in the ledger.", float64(state.Seq))
	m.addSingle("company_office_stopped", "gauge", "1 while the office is stopped.",
		float64(map[bool]int{true: 1}[state.Office.Stopped]))

	tasks := map[string]int{}
	subtasks := map[string]int{}
	runs := map[string]int{}
	for _, id := range state.Open {
		task := state.Tasks[id]
		tasks[string(src.ShownStatus(task))]++
		for _, sub := range task.Subtasks {
			subtasks[string(sub.Status)]++
		}
		for _, run := range task.Runs {
			if run.Held && !run.Ended {
				runs[string(run.Role)]++
			}
		}
	}
	m.addByLabel("company_tasks_open", "Tasks that have not ended.", "status", tasks, openStatuses)
	m.addByLabel("company_subtasks_open", "Subtasks of tasks that have not ended.", "status", subtasks, subtaskStatuses)
	m.addByLabel("company_runs_held", "Runs that an agent is at.", "role", runs, roles)
	m.addSingle("company_merge_queue_length", "gauge", "Approved subtasks that are not merged yet.",
		float64(subtasks[string(company.SubtaskMerging)]))
	m.addSingle("company_tasks_submitted_total", "counter", "Tasks that were ever submitted.",
		float64(len(state.Tasks)+len(state.Past)))
	m.addSingle("company_questions_open", "gauge", "Questions that wait for the president.",
		float64(len(state.OpenApprovals(""))))
	m.addSingle("company_workers", "gauge", "Workers that there are to be.", float64(state.Office.WorkerCount()))
	spent := company.Amount{}
	for _, t := range state.Tasks {
		spent = spent.Add(t.Spent)
	}
	for _, t := range state.Past {
		spent = spent.Add(t.Spent)
	}
	m.addSingle("company_cost_usd_total", "counter", "Spending of all calls whose price is known.",
		float64(spent.MicroUSD)/1e6)
	m.addSingle("company_tokens_total", "counter", "Tokens of all calls.", float64(spent.Tokens))

	addRuntime(&m)
	return m.Bytes()
}

// addRuntime adds metrics of this process with the standard names of Prometheus clients.
func addRuntime(m *metricText) {
	samples := []metrics.Sample{{Name: "/sched/goroutines:goroutines"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"}, {Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(samples)
	m.addSingle("go_goroutines", "gauge", "Goroutines of the process.", float64(samples[0].Value.Uint64()))
	m.addSingle("go_memstats_heap_alloc_bytes", "gauge", "Bytes of objects on the heap.",
		float64(samples[1].Value.Uint64()))
	m.addSingle("go_memstats_sys_bytes", "gauge", "Bytes taken from the system.", float64(samples[2].Value.Uint64()))
	if seconds := samples[3].Value.Float64(); !math.IsNaN(seconds) {
		m.addSingle("company_gc_cpu_seconds_total", "counter", "Time of processors that the garbage collector took.", seconds)
	}
}

// roles, openStatuses and subtaskStatuses hold the values of labels, in the order of the work.
var (
	roles = []string{string(company.Manager), string(company.Worker), string(company.Reviewer),
		string(company.Merger)}
	openStatuses = []string{
		string(company.StatusPending), string(company.StatusDecomposing), string(company.StatusExecuting),
		string(company.StatusReviewing), string(company.StatusAwaitingInput), string(company.StatusWaiting),
		string(company.StatusQueued),
	}
	subtaskStatuses = []string{
		string(company.SubtaskPending), string(company.SubtaskAssigned), string(company.SubtaskRunning),
		string(company.SubtaskInGate), string(company.SubtaskReviewing),
		string(company.SubtaskMerging), string(company.SubtaskCompleted), string(company.SubtaskFailed),
		string(company.SubtaskBlocked), string(company.SubtaskCancelled),
	}
)
