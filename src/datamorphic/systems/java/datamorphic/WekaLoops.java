package datamorphic;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import weka.classifiers.Classifier;
import weka.core.Instance;
import weka.core.Instances;

/**
 * The loops over the rows of a table, in Java: a call from Python takes longer than Weka needs for a row.
 *
 * <p>A table comes as one array of numbers, row after row, with `width` numbers per row and the class in the last column.
 *
 * <p>The compiled class is stored beside this file, because users may have no compiler: `make java` writes it.
 */
public final class WekaLoops {
    // In Weka 3.6, Classifier and Instance are classes, and in later versions interfaces. A compiled call of their methods
    // works with only one of the two, so the methods are looked up when the class is loaded.
    private static final MethodHandle NEW_ROW;
    private static final MethodHandle ADD;
    private static final MethodHandle BUILD;
    private static final MethodHandle CLASSIFY;
    private static final MethodHandle DISTRIBUTE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            Class<?> row = Instance.class.isInterface() ? Class.forName("weka.core.DenseInstance") : Instance.class;
            NEW_ROW = lookup.unreflectConstructor(row.getConstructor(double.class, double[].class))
                    .asType(MethodType.methodType(Instance.class, double.class, double[].class));
            ADD = lookup.unreflect(Instances.class.getMethod("add", Instance.class))
                    .asType(MethodType.methodType(void.class, Instances.class, Instance.class));
            BUILD = lookup.unreflect(Classifier.class.getMethod("buildClassifier", Instances.class));
            CLASSIFY = lookup.unreflect(Classifier.class.getMethod("classifyInstance", Instance.class));
            DISTRIBUTE = lookup.unreflect(Classifier.class.getMethod("distributionForInstance", Instance.class));
        } catch (ReflectiveOperationException error) {
            throw new ExceptionInInitializerError(error);
        }
    }

    private WekaLoops() {}

    private static Instances fill(Instances header, double[] numbers, int width) throws Throwable {
        Instances table = new Instances(header, numbers.length / width);
        for (int start = 0; start < numbers.length; start += width) {
            ADD.invokeExact(table, (Instance) NEW_ROW.invokeExact(1.0, Arrays.copyOfRange(numbers, start, start + width)));
        }
        return table;
    }

    /** Build a classifier. */
    public static void fit(Classifier model, Instances header, double[] numbers, int width) throws Throwable {
        BUILD.invokeExact(model, fill(header, numbers, width));
    }

    /** Return the label code or number of each row. */
    public static double[] classify(Classifier model, Instances header, double[] numbers, int width) throws Throwable {
        Instances table = fill(header, numbers, width);
        double[] answers = new double[table.numInstances()];
        for (int i = 0; i < answers.length; i++) {
            answers[i] = (double) CLASSIFY.invokeExact(model, table.instance(i));
        }
        return answers;
    }

    /** Return the probability of each label for each row, row after row. */
    public static double[] distribute(Classifier model, Instances header, double[] numbers, int width) throws Throwable {
        Instances table = fill(header, numbers, width);
        int labels = table.numClasses();
        double[] answers = new double[Math.multiplyExact(table.numInstances(), labels)];
        for (int i = 0; i < table.numInstances(); i++) {
            double[] answer = (double[]) DISTRIBUTE.invokeExact(model, table.instance(i));
            System.arraycopy(answer, 0, answers, i * labels, labels);
        }
        return answers;
    }
}
