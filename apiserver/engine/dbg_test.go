package engine
import ("testing";"math/rand/v2";"math";"github.com/anamnesis-dev/anamnesis/apiserver/model")
func TestDbg(t *testing.T){
 e:=New()
 random := rand.New(rand.NewPCG(0xe,1))
 w:=newWorld(t,random)
 full := w.drawAnswers(rand.New(rand.NewPCG(1,2)))
 for {
  small:=false
  for k:=range full { b:=answers{}; for j,c:=range full { if j!=k {b[j]=c}}
   p,_:=NewPatient(w.release, model.Female,400,w.evidence(b,random))
   x,y:=w.posterior(b),infer(e,w.release,p)
   d:=0.0; for c:=range x {d=max(d,math.Abs(x[c]-y[c]))}
   if d>1e-9 {full=b; small=true; break}
  }
  if !small {break}
 }
 t.Log(full, w.groups)
}
