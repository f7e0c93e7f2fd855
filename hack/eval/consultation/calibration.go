// SPDX-License-Identifier: Apache-2.0

package consultation

import (
	"fmt"
	"io"
	"math"
)

// A Prediction holds the probability of the top-ranked condition, and whether the condition
// was correct.
type Prediction struct {
	Probability float64
	Correct     bool
}

// A bin holds the predictions whose probability is in the same tenth.
type bin struct {
	count           int
	meanProbability float64 // mean predicted probability
	accuracy        float64 // fraction of correct predictions
}

// calibrate compares predicted with observed frequencies. The expected calibration
// error is the mean distance between the two, weighted by the number of predictions in
// each bin (Naeini et al. 2015).
func calibrate(predictions []Prediction) (bins [10]bin, expectedError float64) {
	for _, p := range predictions {
		b := &bins[min(9, int(10*p.Probability))]
		b.count++
		b.meanProbability += p.Probability
		if p.Correct {
			b.accuracy++
		}
	}
	for i := range bins {
		if b := &bins[i]; b.count > 0 {
			b.meanProbability /= float64(b.count)
			b.accuracy /= float64(b.count)
			expectedError += math.Abs(b.meanProbability-b.accuracy) * float64(b.count) / float64(len(predictions))
		}
	}
	return bins, expectedError
}

// PrintCalibration prints, by tenth of probability, how often the top-ranked condition
// was correct.
func PrintCalibration(out io.Writer, predictions []Prediction) {
	bins, expectedError := calibrate(predictions)
	fmt.Fprintf(out, "calibration of the first condition: expected error %.3f\n  predicted  observed  patients\n", expectedError)
	for _, b := range bins {
		if b.count > 0 {
			fmt.Fprintf(out, "  %9.2f  %8.2f  %8d\n", b.meanProbability, b.accuracy, b.count)
		}
	}
	fmt.Fprintln(out)
}
