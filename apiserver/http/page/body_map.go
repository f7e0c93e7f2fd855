// SPDX-License-Identifier: Apache-2.0

package page

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/body"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// A bodyView is the body map as shown to one patient.
type bodyView struct {
	Drawings []drawingView
	Regions  []regionView // regions with a symptom that the patient can have
}

// A drawingView is the figure from one side.
type drawingView struct {
	body.Drawing
	Title string // message ID
}

type regionView struct{ ID, Name string }

// showBodyMap adds the body map and the symptoms of the selected region, if any, to the
// draft.
func (h *handlers) showBodyMap(d *draft, q *record.Question, region string) error {
	list := *q.Meta.SourceList
	symptoms, err := h.symptomsByRegion(list)
	if err != nil {
		return err
	}
	figure := body.FigureFor(list.Sex, list.Age.Months()/12)
	d.Body = &bodyView{Drawings: []drawingView{
		{h.body.Drawing(figure, body.Front), "body.front"}, {h.body.Drawing(figure, body.Back), "body.back"},
	}}
	for _, bodyRegion := range h.body.Regions() {
		if len(symptoms[bodyRegion.ID]) == 0 {
			continue
		}
		shown := regionView{bodyRegion.ID, h.body.Name(bodyRegion.ID, list.Language)}
		d.Body.Regions = append(d.Body.Regions, shown)
		if bodyRegion.ID == region {
			d.Region = shown.Name
			d.addFound(symptoms[bodyRegion.ID])
		}
	}
	return nil
}

// symptomsByRegion returns the symptoms of each region that are in the patient's list. It
// omits a region without a drawing if its most common symptom does not apply. For example,
// nausea applies to men, but pregnancy should not be offered to them.
func (h *handlers) symptomsByRegion(list record.SourceList) (map[string][]record.Item, error) {
	var ids []string
	for _, region := range h.body.Regions() {
		ids = append(ids, region.Symptoms...)
	}
	named, err := h.Surveys.ItemsByID(list, ids)
	if err != nil {
		return nil, err
	}
	items := make(map[string]record.Item, len(named))
	for _, item := range named {
		items[item.ID] = item
	}
	symptoms := map[string][]record.Item{}
	for _, region := range h.body.Regions() {
		if _, mostCommon := items[region.Symptoms[0]]; !mostCommon && !region.Front && !region.Back {
			continue
		}
		for _, id := range region.Symptoms {
			if item, ok := items[id]; ok {
				symptoms[region.ID] = append(symptoms[region.ID], item)
			}
		}
	}
	return symptoms, nil
}

// addFound adds items to the found items unless they are already selected.
func (d *draft) addFound(items []record.Item) {
	for _, item := range items {
		if !d.isChosen(item.ID) {
			d.Found = append(d.Found, newChip(item))
		}
	}
}
